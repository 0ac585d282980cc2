//! Waking receivers that sleep: an event service beside the one that carries the messages.

use std::cell::Cell;
use std::time::Duration;

use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::{ListenerKey, Notifier};
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::event::PortFactory as Events;

use crate::failure::Failure;
use crate::trial::{Ipc, Outcome, Trial};

/// One event is enough: it says "look".
const LOOK: usize = 0;
/// The socket's timeout is in microseconds, and none at all is for ever.
const LEAST: Duration = Duration::from_micros(1);

fn events(trial: &Trial, name: &str, ringers: usize, sleepers: usize) -> Outcome<Events<Ipc>> {
    Ok(trial
        .node
        .service_builder(&ServiceName::new(name)?)
        .event()
        .event_id_max_value(LOOK)
        .max_notifiers(ringers)
        .max_listeners(sleepers)
        .max_nodes(trial.rules.nodes)
        .open_or_create()?)
}

/// The sender's side.
pub struct Bell {
    notifier: Notifier<Ipc>,
    _events: Events<Ipc>,
}

impl Bell {
    /// None where receivers poll.
    pub fn new(trial: &Trial, name: &str, ringers: usize, sleepers: usize) -> Outcome<Option<Self>> {
        if !trial.rules.blocks {
            return Ok(None);
        }
        let events = events(trial, name, ringers, sleepers)?;
        let notifier = events
            .notifier_builder()
            .default_event_id(EventId::new(LOOK))
            .create()?;
        Ok(Some(Self {
            notifier,
            _events: events,
        }))
    }

    pub fn connect(&self) {
        let _ = self.notifier.update_connections();
    }

    pub fn ring(&self, failure: &Failure) {
        if let Err(error) = self.notifier.notify() {
            failure.note("notify", &error);
        }
    }

    pub fn ring_one(&self, sleeper: &ListenerKey, failure: &Failure) {
        if let Err(error) = self.notifier.notify_single_listener(sleeper) {
            failure.note("notify", &error);
        }
    }

    /// The sleepers that were found, by the number that is their name.
    pub fn find(&self, found: &mut [Option<ListenerKey>]) -> usize {
        self.notifier.for_each_listener(|sleeper, details| {
            let place = details.listener_name.as_str().parse::<usize>().ok();
            if let Some(place) = place.and_then(|index| found.get_mut(index)) {
                *place = Some(sleeper.listener_key());
            }
            CallbackProgression::Continue
        });
        found.iter().flatten().count()
    }
}

/// The receiver's side.
pub struct Sleeper {
    listener: Listener<Ipc>,
    _events: Events<Ipc>,
    heard: Cell<bool>,
}

impl Sleeper {
    /// None where receivers poll.
    pub fn new(trial: &Trial, name: &str, index: u32, ringers: usize, sleepers: usize) -> Outcome<Option<Self>> {
        if !trial.rules.blocks {
            return Ok(None);
        }
        let events = events(trial, name, ringers, sleepers)?;
        let listener = events
            .listener_builder()
            .name(&PortName::new(&index.to_string())?)
            .create()?;
        Ok(Some(Self {
            listener,
            _events: events,
            heard: Cell::new(false),
        }))
    }

    /// True: somebody rang, now or before.
    pub fn sleep(&self, timeout: Duration, failure: &Failure) -> bool {
        self.heard.set(false);
        match self.listener.timed_wait(|_| self.heard.set(true), timeout.max(LEAST)) {
            Ok(_) | Err(ListenerWaitError::InterruptSignal) => (),
            Err(error) => failure.note("timed_wait", &error),
        }
        self.heard.get()
    }
}
