//! Wakes receivers that sleep, by an event service in addition to the service of the messages.

use std::time::Duration;

use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::event::PortFactory;
use iceoryx2::service::Service;

use middlemark_adapter::LastError;

use crate::{Outcome, Trial};

/// The only event: it makes the receiver check for messages.
const LOOK: usize = 0;

fn events<V: Service>(trial: &Trial<V>, name: &str, ringers: u32, sleepers: u32) -> Outcome<PortFactory<V>> {
    Ok(trial
        .node
        .service_builder(&ServiceName::new(name)?)
        .event()
        .event_id_max_value(LOOK)
        .max_notifiers(ringers as usize)
        .max_listeners(sleepers as usize)
        .max_nodes(trial.settings.workers as usize)
        .open_or_create()?)
}

/// Wakes the receivers of an event service.
pub struct Bell<V: Service>(Notifier<V>);

/// Returns a bell for each of `names`, the names of event services. Returns no bells if receivers poll. `ringers` and
/// `sleepers` are the numbers of notifiers and listeners of a service.
pub fn bells<V: Service, N: AsRef<str>>(
    trial: &Trial<V>,
    names: impl IntoIterator<Item = N>,
    ringers: u32,
    sleepers: u32,
) -> Outcome<Vec<Bell<V>>> {
    let bell = |name: N| {
        let events = events(trial, name.as_ref(), ringers, sleepers)?;
        Ok(Bell(events.notifier_builder().default_event_id(EventId::new(LOOK)).create()?))
    };
    names.into_iter().filter(|_| trial.blocks()).map(bell).collect()
}

impl<V: Service> Bell<V> {
    pub fn connect(&self) {
        let _ = self.0.update_connections();
    }

    pub fn ring(&self, error: &mut LastError) {
        if let Err(why) = self.0.notify() {
            error.note(format_args!("notify: {why:?}"));
        }
    }
}

/// Sleeps until a bell rings. A sleeper is created before the receiver's port, so that a sender that finds the port can
/// wake the receiver.
pub struct Sleeper<V: Service>(Listener<V>);

/// Creates the sleeper of the event service `name`. Returns `None` if receivers poll.
pub fn sleeper<V: Service>(trial: &Trial<V>, name: &str, ringers: u32, sleepers: u32) -> Outcome<Option<Sleeper<V>>> {
    let listener = || Ok(Sleeper(events(trial, name, ringers, sleepers)?.listener_builder().create()?));
    trial.blocks().then(listener).transpose()
}

impl<V: Service> Sleeper<V> {
    /// Returns true if a bell has rung during the call or before it.
    pub fn sleep(&self, timeout: Duration, error: &mut LastError) -> bool {
        /// The socket's timeout is in microseconds, and 0 means no timeout.
        const LEAST: Duration = Duration::from_micros(1);
        match self.0.timed_wait(|_| (), timeout.max(LEAST)) {
            Ok(rung) => return rung > 0,
            Err(ListenerWaitError::InterruptSignal) => (),
            Err(why) => error.note(format_args!("timed_wait: {why:?}")),
        }
        false
    }
}
