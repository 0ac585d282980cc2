//! Publishers and subscribers of a topic. Messages are byte slices of one length.

use std::mem::MaybeUninit;

use iceoryx2::config::PublishSubscribe;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::port::{LoanError, ReceiveError, SendError};
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use iceoryx2::service::Service;
use middlemark_adapter::{applied, Topic, Visitor};

use crate::bell::{bells, sleeper};
use crate::ends::{Patience, Receiver, Receives, Sender, Sends};
use crate::{Outcome, Trial};

type Factory<V> = PortFactory<V, [u8], ()>;

fn defaults() -> PublishSubscribe {
    Config::default().defaults.publish_subscribe
}

/// Opens the service of a topic. Publishers and subscribers must pass the same values, because iceoryx2 refuses to open
/// an existing service with other values.
fn service<V: Service>(trial: &Trial<V>, topic: &Topic) -> Outcome<Factory<V>> {
    let defaults = defaults();
    // In the default configuration, keep the library's limits if they are high enough for the trial.
    let is_default = trial.settings.is_default_configuration();
    let limit = |default: usize, needed: u32| if is_default { default.max(needed as usize) } else { needed as usize };
    let mut builder = applied!(
        trial.code,
        "service",
        trial.node.service_builder(&ServiceName::new(&topic.name)?).publish_subscribe::<[u8]>(),
        max_publishers(limit(defaults.max_publishers, topic.publishers)),
        max_subscribers(limit(defaults.max_subscribers, topic.subscribers)),
        max_nodes(limit(defaults.max_nodes, trial.settings.workers)),
        history_size(0),
        subscriber_max_buffer_size(trial.buffer.of_topic(topic)),
        subscriber_max_borrowed_samples(if is_default { defaults.subscriber_max_borrowed_samples } else { 1 }),
        enable_safe_overflow(trial.overflows(topic)),
    );
    if let Some(alignment) = trial.alignment() {
        builder = applied!(trial.code, "service", builder, payload_alignment(alignment));
    }
    Ok(builder.open_or_create()?)
}

pub struct Samples<V: Service> {
    port: Publisher<V, [u8], ()>,
    service: Factory<V>,
}

pub fn publisher<V: Service>(trial: &Trial<V>, topic: &Topic) -> Outcome<Sender<V, Samples<V>>> {
    let service = service(trial, topic)?;
    let patience = Patience::default();
    let bells = bells(trial, [&*topic.name], topic.publishers, topic.subscribers)?;
    let is_default = trial.settings.is_default_configuration();
    let builder = applied!(
        trial.code,
        "publisher",
        service.publisher_builder(),
        initial_max_slice_len(topic.message_bytes),
        allocation_strategy(AllocationStrategy::Static),
        max_loaned_samples(if is_default { defaults().publisher_max_loaned_samples } else { 1 }),
        backpressure_strategy(match topic.reliable() {
            true => BackpressureStrategy::RetryUntilDelivered,
            false => BackpressureStrategy::DiscardData,
        }),
    );
    let builder = match topic.reliable() {
        true => builder.set_backpressure_handler(patience.handler(trial.settings.write_timeout())),
        false => builder,
    };
    let port = builder.create()?;
    Ok(Sender::new(trial, topic, Samples { port, service }, bells, patience))
}

impl<V: Service> Sends for Samples<V> {
    type Lent = SampleMutUninit<V, [MaybeUninit<u8>], ()>;
    type Error = SendError;
    const TIMED_OUT: SendError = SendError::UnableToDeliver;

    #[inline]
    fn lend(&self, bytes: usize) -> Result<Self::Lent, LoanError> {
        self.port.loan_slice_uninit(bytes)
    }
    #[inline]
    fn memory(lent: &mut Self::Lent) -> &mut [MaybeUninit<u8>] {
        lent.payload_mut()
    }
    #[inline]
    unsafe fn send(&self, lent: Self::Lent) -> Result<(), SendError> {
        unsafe { lent.assume_init() }.send().map(drop)
    }
    fn found(&self) -> usize {
        let found = self.service.dynamic_config().number_of_subscribers();
        let _ = self.port.update_connections(); // ignored: if a subscriber cannot be connected, each send also fails
        found
    }
}

pub struct Inbox<V: Service> {
    port: Subscriber<V, [u8], ()>,
    service: Factory<V>,
}

pub fn subscriber<V: Service>(trial: &Trial<V>, topic: &Topic) -> Outcome<Receiver<V, Inbox<V>>> {
    let service = service(trial, topic)?;
    let sleeper = sleeper(trial, &topic.name, topic.publishers, topic.subscribers)?;
    let builder = service.subscriber_builder();
    let port = applied!(trial.code, "subscriber", builder, buffer_size(trial.buffer.of_topic(topic))).create()?;
    Ok(Receiver { port: Inbox { port, service }, sleeper })
}

impl<V: Service> Receives for Inbox<V> {
    #[inline]
    fn receive(&self, visitor: Visitor<'_>) -> Result<bool, ReceiveError> {
        Ok(self.port.receive()?.map(|sample| visitor.visit(sample.payload())).is_some())
    }
    fn has(&self) -> bool {
        self.port.has_samples().unwrap_or(false)
    }
    fn publishers(&self) -> Option<usize> {
        let found = self.service.dynamic_config().number_of_publishers();
        let _ = self.port.update_connections(); // ignored: if a publisher cannot be connected, each receive() also fails
        Some(found)
    }
}
