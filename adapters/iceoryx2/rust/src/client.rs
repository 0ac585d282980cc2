//! A client of the request and reply that iceoryx2 has itself: one request at a time.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::time::Duration;

use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::{Client as Port, RequestSendError};
use iceoryx2::port::SendError;
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::request_mut_uninit::RequestMutUninit;
use iceoryx2::service::port_factory::request_response::PortFactory;

use crate::bell::{Bell, Sleeper};
use crate::ends::{Published, Receives, Sends, Visitor};
use crate::failure::Failure;
use crate::patience::Patience;
use crate::trial::{Ipc, Outcome, Topic, Trial};

/// Requests carry their client's number, so that the server wakes that client alone.
pub type Service = PortFactory<Ipc, [u8], u32, [u8], ()>;
type Request = RequestMutUninit<Ipc, [MaybeUninit<u8>], u32, [u8], ()>;
type Pending = PendingResponse<Ipc, [u8], u32, [u8], ()>;

pub fn service(trial: &Trial, topic: &Topic) -> Outcome<Service> {
    let rules = &trial.rules;
    let mut builder = trial
        .node
        .service_builder(&trial.service_name(topic)?)
        .request_response::<[u8], [u8]>()
        .request_user_header::<u32>()
        .max_clients(topic.publishers)
        .max_servers(1)
        .max_nodes(rules.nodes)
        .max_active_requests_per_client(1)
        .max_loaned_requests(1)
        .max_response_buffer_size(1)
        .max_borrowed_responses_per_pending_response(1)
        .enable_safe_overflow_for_requests(rules.overflows)
        .enable_safe_overflow_for_responses(rules.overflows);
    if let Some(alignment) = rules.alignment {
        let alignment = Alignment::new(alignment).ok_or("no power of two")?;
        builder = builder
            .request_payload_alignment(alignment)
            .response_payload_alignment(alignment);
    }
    Ok(builder.open_or_create()?)
}

/// Where clients sleep until the server has replied.
pub fn replies_of(topic: &Topic) -> String {
    format!("{}_replies", topic.name)
}

/// Fields are dropped in this order: what was lent before who lent it.
pub struct Client {
    lent: Option<Request>,
    /// A reply is taken through it; while it lives no further request can be sent.
    pending: RefCell<Option<Pending>>,
    own: Vec<u8>,
    bytes: usize,
    index: u32,
    port: Port<Ipc, [u8], u32, [u8], ()>,
    bell: Option<Bell>,
    sleeper: Option<Sleeper>,
    service: Service,
    patience: Patience,
    failure: Failure,
}

impl Client {
    pub fn new(trial: &Trial, topic: &Topic, index: u32) -> Outcome<Self> {
        let service = service(trial, topic)?;
        let sleeper = Sleeper::new(trial, &replies_of(topic), index, 1, topic.publishers)?;
        let bell = Bell::new(trial, &topic.name, topic.publishers, 1)?;
        let patience = Patience::new(trial.rules.write_timeout);
        let port = service
            .client_builder()
            .initial_max_slice_len(topic.bytes)
            .allocation_strategy(AllocationStrategy::Static)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .set_backpressure_handler(patience.handler())
            .create()?;
        Ok(Self {
            lent: None,
            pending: RefCell::new(None),
            own: vec![0; if trial.rules.loans { 0 } else { topic.bytes }],
            bytes: topic.bytes,
            index,
            port,
            bell,
            sleeper,
            service,
            patience,
            failure: Failure::none(),
        })
    }

    fn borrow(&mut self) -> Option<&mut Request> {
        if self.lent.is_none() {
            // Whoever asks again has its reply or has given it up.
            self.pending.replace(None);
            match self.port.loan_slice_uninit(self.bytes) {
                Ok(request) => self.lent = Some(request),
                Err(error) => self.failure.note("loan_slice_uninit", &error),
            }
        }
        self.lent.as_mut()
    }
}

impl Sends for Client {
    fn loan(&mut self) -> *mut u8 {
        if !self.own.is_empty() {
            return self.own.as_mut_ptr();
        }
        self.borrow().map_or(std::ptr::null_mut(), |request| {
            request.payload_mut().as_mut_ptr().cast()
        })
    }

    fn publish(&mut self) -> Published {
        if !self.own.is_empty() && self.borrow().is_none() {
            return Published::Failed;
        }
        let Some(mut request) = self.lent.take() else {
            return Published::Failed;
        };
        *request.user_header_mut() = self.index;
        let request = if self.own.is_empty() {
            // SAFETY: bytes, of which every pattern is a value; the contract has the caller write them.
            unsafe { request.assume_init() }
        } else {
            request.write_from_slice(&self.own)
        };
        self.patience.renew();
        let sent = request.send();
        if let Some(bell) = &self.bell {
            bell.ring(&self.failure);
        }
        match sent {
            Ok(pending) => {
                self.pending.replace(Some(pending));
                Published::Ok
            }
            Err(RequestSendError::SendError(SendError::UnableToDeliver)) => Published::TimedOut,
            Err(error) => {
                self.failure.note("send", &error);
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        if let Some(bell) = &self.bell {
            bell.connect();
        }
        self.service.dynamic_config().number_of_servers()
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl Receives for Client {
    fn take(&self, most: usize, visitor: &Visitor) -> usize {
        for visits in 0..most {
            let received = match &*self.pending.borrow() {
                Some(pending) => pending.receive(),
                None => return visits,
            };
            match received {
                Ok(Some(response)) => visitor.visit(response.payload()),
                Ok(None) => return visits,
                Err(error) => {
                    self.failure.note("receive", &error);
                    return visits;
                }
            }
        }
        most
    }

    fn wait(&self, timeout: Duration) -> bool {
        let there = self
            .pending
            .borrow()
            .as_ref()
            .is_some_and(|pending| pending.has_response());
        match &self.sleeper {
            Some(sleeper) if !there => sleeper.sleep(timeout, &self.failure),
            _ => true,
        }
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}
