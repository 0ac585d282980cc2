//! A server of the request and reply that iceoryx2 has itself: it answers a request while it is being visited.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::time::Duration;

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::port::notifier::ListenerKey;
use iceoryx2::port::server::Server as Port;
use iceoryx2::port::SendError;
use iceoryx2::prelude::*;
use iceoryx2::response_mut_uninit::ResponseMutUninit;

use crate::bell::{Bell, Sleeper};
use crate::client::{self, Service};
use crate::ends::{Published, Receives, Sends, Visitor};
use crate::failure::Failure;
use crate::patience::Patience;
use crate::trial::{Ipc, Outcome, Topic, Trial};

type Request = ActiveRequest<Ipc, [u8], u32, [u8], ()>;
type Response = ResponseMutUninit<Ipc, [MaybeUninit<u8>], ()>;

/// What loan() and publish() work on. Apart from the receiving half: they are called while that visits.
/// Fields are dropped in this order: what was lent before who lent it.
pub struct Answering {
    lent: Option<Response>,
    request: Option<Request>,
    own: Vec<u8>,
    bytes: usize,
    bell: Option<Bell>,
    clients: Vec<Option<ListenerKey>>,
    patience: Patience,
    service: Service,
    failure: Failure,
}

pub struct Server {
    answering: RefCell<Answering>,
    port: Port<Ipc, [u8], u32, [u8], ()>,
    sleeper: Option<Sleeper>,
    failure: Failure,
}

impl Server {
    pub fn new(trial: &Trial, topic: &Topic, _index: u32) -> Outcome<Self> {
        let service = client::service(trial, topic)?;
        let sleeper = Sleeper::new(trial, &topic.name, 0, topic.publishers, 1)?;
        let bell = Bell::new(trial, &client::replies_of(topic), 1, topic.publishers)?;
        let patience = Patience::new(trial.rules.write_timeout);
        let port = service
            .server_builder()
            .initial_max_slice_len(topic.bytes)
            .allocation_strategy(AllocationStrategy::Static)
            .max_loaned_responses_per_request(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .set_backpressure_handler(patience.handler())
            .create()?;
        Ok(Self {
            answering: RefCell::new(Answering {
                lent: None,
                request: None,
                own: vec![0; if trial.rules.loans { 0 } else { topic.bytes }],
                bytes: topic.bytes,
                bell,
                clients: vec![None; topic.publishers],
                patience,
                service,
                failure: Failure::none(),
            }),
            port,
            sleeper,
            failure: Failure::none(),
        })
    }

    pub fn answer<T>(&self, with: impl FnOnce(&mut Answering) -> T) -> T {
        with(&mut self.answering.borrow_mut())
    }
}

impl Answering {
    fn borrow(&mut self) -> Option<&mut Response> {
        if self.lent.is_none() {
            match self.request.as_ref()?.loan_slice_uninit(self.bytes) {
                Ok(response) => self.lent = Some(response),
                Err(error) => self.failure.note("loan_slice_uninit", &error),
            }
        }
        self.lent.as_mut()
    }
}

impl Sends for Answering {
    fn loan(&mut self) -> *mut u8 {
        if !self.own.is_empty() {
            return self.own.as_mut_ptr();
        }
        self.borrow().map_or(std::ptr::null_mut(), |response| {
            response.payload_mut().as_mut_ptr().cast()
        })
    }

    fn publish(&mut self) -> Published {
        if !self.own.is_empty() && self.borrow().is_none() {
            return Published::Failed;
        }
        let (Some(response), Some(request)) = (self.lent.take(), &self.request) else {
            return Published::Failed;
        };
        let response = if self.own.is_empty() {
            // SAFETY: bytes, of which every pattern is a value; the contract has the caller write them.
            unsafe { response.assume_init() }
        } else {
            response.write_from_slice(&self.own)
        };
        self.patience.renew();
        let sent = response.send();
        let asked = self.clients.get(*request.user_header() as usize);
        if let (Some(bell), Some(Some(client))) = (&self.bell, asked) {
            bell.ring_one(client, &self.failure);
        }
        match sent {
            Ok(()) => Published::Ok,
            Err(SendError::UnableToDeliver) => Published::TimedOut,
            Err(error) => {
                self.failure.note("send", &error);
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        let found = self.service.dynamic_config().number_of_clients();
        match &self.bell {
            Some(bell) => bell.find(&mut self.clients).min(found),
            None => found,
        }
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl Receives for Server {
    fn take(&self, most: usize, visitor: &Visitor) -> usize {
        for visits in 0..most {
            match self.port.receive() {
                Ok(Some(request)) => {
                    let payload: *const [u8] = request.payload();
                    self.answer(|half| half.request = Some(request));
                    // SAFETY: it lies in shared memory and stays the request's until that is dropped below.
                    visitor.visit(unsafe { &*payload });
                    self.answer(|half| (half.lent, half.request) = (None, None));
                }
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
        match (&self.sleeper, self.port.has_requests()) {
            (None, _) | (_, Ok(true)) => true,
            (Some(sleeper), _) => sleeper.sleep(timeout, &self.failure),
        }
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }
}
