//! A publisher of byte slices of one length.

use std::mem::MaybeUninit;

use iceoryx2::port::publisher::Publisher as Port;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::port::SendError;
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use crate::bell::Bell;
use crate::ends::{Published, Sends};
use crate::failure::Failure;
use crate::patience::Patience;
use crate::trial::{Ipc, Outcome, Topic, Trial};

/// The same for both ends, or the second to come would be refused.
pub fn service(trial: &Trial, topic: &Topic) -> Outcome<PortFactory<Ipc, [u8], ()>> {
    let rules = &trial.rules;
    let mut builder = trial
        .node
        .service_builder(&trial.service_name(topic)?)
        .publish_subscribe::<[u8]>()
        .max_publishers(topic.publishers)
        .max_subscribers(topic.subscribers)
        .max_nodes(rules.nodes)
        .history_size(0)
        .subscriber_max_buffer_size(rules.buffer)
        .subscriber_max_borrowed_samples(1)
        .enable_safe_overflow(rules.overflows);
    if let Some(alignment) = rules.alignment {
        builder = builder.payload_alignment(Alignment::new(alignment).ok_or("no power of two")?);
    }
    Ok(builder.open_or_create()?)
}

/// Fields are dropped in this order: what was lent before who lent it.
pub struct Publisher {
    lent: Option<SampleMutUninit<Ipc, [MaybeUninit<u8>], ()>>,
    own: Vec<u8>,
    bytes: usize,
    port: Port<Ipc, [u8], ()>,
    bell: Option<Bell>,
    service: PortFactory<Ipc, [u8], ()>,
    patience: Patience,
    failure: Failure,
}

impl Publisher {
    pub fn new(trial: &Trial, topic: &Topic, _index: u32) -> Outcome<Self> {
        let service = service(trial, topic)?;
        let patience = Patience::new(trial.rules.write_timeout);
        let bell = Bell::new(trial, &topic.name, topic.publishers, topic.subscribers)?;
        let builder = service
            .publisher_builder()
            .initial_max_slice_len(topic.bytes)
            .allocation_strategy(AllocationStrategy::Static)
            .max_loaned_samples(1);
        let port = if trial.rules.reliable {
            builder
                .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
                .set_backpressure_handler(patience.handler())
                .create()?
        } else {
            builder
                .backpressure_strategy(BackpressureStrategy::DiscardData)
                .create()?
        };
        Ok(Self {
            lent: None,
            own: vec![0; if trial.rules.loans { 0 } else { topic.bytes }],
            bytes: topic.bytes,
            port,
            bell,
            service,
            patience,
            failure: Failure::none(),
        })
    }

    fn borrow(&mut self) -> Option<&mut SampleMutUninit<Ipc, [MaybeUninit<u8>], ()>> {
        if self.lent.is_none() {
            match self.port.loan_slice_uninit(self.bytes) {
                Ok(sample) => self.lent = Some(sample),
                Err(error) => self.failure.note("loan_slice_uninit", &error),
            }
        }
        self.lent.as_mut()
    }
}

impl Sends for Publisher {
    fn loan(&mut self) -> *mut u8 {
        if !self.own.is_empty() {
            return self.own.as_mut_ptr();
        }
        self.borrow()
            .map_or(std::ptr::null_mut(), |sample| sample.payload_mut().as_mut_ptr().cast())
    }

    fn publish(&mut self) -> Published {
        if !self.own.is_empty() && self.borrow().is_none() {
            return Published::Failed;
        }
        let Some(sample) = self.lent.take() else {
            return Published::Failed;
        };
        let sample = if self.own.is_empty() {
            // SAFETY: bytes, of which every pattern is a value; the contract has the caller write them.
            unsafe { sample.assume_init() }
        } else {
            sample.write_from_slice(&self.own)
        };
        self.patience.renew();
        let sent = sample.send();
        if let Some(bell) = &self.bell {
            bell.ring(&self.failure); // also after a timeout: others may have got it
        }
        match sent {
            Ok(_) => Published::Ok,
            Err(SendError::UnableToDeliver) => Published::TimedOut,
            Err(error) => {
                self.failure.note("send", &error);
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        let found = self.service.dynamic_config().number_of_subscribers();
        if let Err(error) = self.port.update_connections() {
            self.failure.note("update_connections", &error);
        }
        if let Some(bell) = &self.bell {
            bell.connect();
        }
        found
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}
