//! A subscriber of byte slices.

use std::time::Duration;

use iceoryx2::port::subscriber::Subscriber as Port;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::PortFactory as _;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use crate::bell::Sleeper;
use crate::ends::{Receives, Visitor};
use crate::failure::Failure;
use crate::publisher;
use crate::trial::{Ipc, Outcome, Topic, Trial};

pub struct Subscriber {
    port: Port<Ipc, [u8], ()>,
    sleeper: Option<Sleeper>,
    service: PortFactory<Ipc, [u8], ()>,
    failure: Failure,
}

impl Subscriber {
    /// The sleeper comes first: whoever finds the subscriber can wake it.
    pub fn new(trial: &Trial, topic: &Topic, index: u32) -> Outcome<Self> {
        let service = publisher::service(trial, topic)?;
        let sleeper = Sleeper::new(trial, &topic.name, index, topic.publishers, topic.subscribers)?;
        let port = service.subscriber_builder().buffer_size(trial.rules.buffer).create()?;
        Ok(Self {
            port,
            sleeper,
            service,
            failure: Failure::none(),
        })
    }

    pub fn publishers_found(&self) -> usize {
        let found = self.service.dynamic_config().number_of_publishers();
        if let Err(error) = self.port.update_connections() {
            self.failure.note("update_connections", &error);
        }
        found
    }
}

impl Receives for Subscriber {
    fn take(&self, most: usize, visitor: &Visitor) -> usize {
        for visits in 0..most {
            match self.port.receive() {
                Ok(Some(sample)) => visitor.visit(sample.payload()),
                Ok(None) => return visits,
                Err(error) => {
                    self.failure.note("receive", &error);
                    return visits;
                }
            }
        }
        most
    }

    /// Looks before it sleeps: what was rung for may have been taken already, and what is there may have been rung for
    /// in an earlier call.
    fn wait(&self, timeout: Duration) -> bool {
        match (&self.sleeper, self.port.has_samples()) {
            (None, _) | (_, Ok(true)) => true,
            (Some(sleeper), _) => sleeper.sleep(timeout, &self.failure),
        }
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}
