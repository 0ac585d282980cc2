//! Code that the adapter's publishers, subscribers, clients and servers share: the memory of a message, the limit of a
//! sender's wait, and the bound of a take.

use std::cell::Cell;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iceoryx2::port::{BackpressureAction, BackpressureInfo, LoanError, ReceiveError};
use iceoryx2::service::Service;
use middlemark_adapter::{Buffer, LastError, Published, Topic, Visitor};

use crate::bell::{Bell, Sleeper};
use crate::Trial;

pub trait Sends {
    /// iceoryx2's memory for one message.
    type Lent;
    type Error: Debug + PartialEq;
    /// The error of a send if a receiver had no space until the write timeout.
    const TIMED_OUT: Self::Error;

    fn lend(&self, bytes: usize) -> Result<Self::Lent, LoanError>;
    fn memory(lent: &mut Self::Lent) -> &mut [MaybeUninit<u8>];
    /// # Safety
    /// All of the memory must have been written.
    unsafe fn send(&self, lent: Self::Lent) -> Result<(), Self::Error>;
    /// Returns the index of the bell that the sender rings after the next message.
    fn addressee(&self) -> usize {
        0
    }
    /// Returns a number that identifies the request which a server is answering. Memory that the server borrowed for
    /// one request is invalid for the next request.
    fn turn(&self) -> u64 {
        0
    }
    fn found(&self) -> usize;
}

/// Implements Publisher for a port that sends. Rust drops the fields in this order: the loan must be dropped before its
/// port.
pub struct Sender<V: Service, S: Sends> {
    /// The loaned memory of the next message.
    next: Option<S::Lent>,
    turn: u64,
    /// The buffer in which the role writes messages if the trial does not use loans. Its content is copied into loaned
    /// memory.
    own: Option<Buffer>,
    port: S,
    /// The bells that wake receivers; empty if receivers poll.
    bells: Vec<Bell<V>>,
    patience: Patience,
    bytes: usize,
}

// SAFETY: ports count their references without atomics, so only one thread at a time may use a port. A port is created
// on one thread and then used by one other thread. Only the sender and the receiver of a client or a server share a
// port, and one thread uses both.
unsafe impl<V: Service, S: Sends> Send for Sender<V, S> {}
unsafe impl<V: Service, R> Send for Receiver<V, R> {}

impl<V: Service, S: Sends> Sender<V, S> {
    pub fn new(trial: &Trial<V>, topic: &Topic, port: S, bells: Vec<Bell<V>>, patience: Patience) -> Self {
        let bytes = topic.message_bytes;
        let own = (!trial.settings.loan).then(|| Buffer::of(bytes));
        Self { next: None, turn: 0, own, port, bells, patience, bytes }
    }

    /// Drops `next` if it was borrowed for an earlier request.
    fn drop_outdated_loan(&mut self) {
        let turn = self.port.turn();
        if self.turn != turn {
            self.turn = turn;
            self.next = None;
        }
    }

    /// Returns the memory of the next message. Borrows it from iceoryx2 if `next` is empty.
    fn lend(&mut self, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.drop_outdated_loan();
        if self.next.is_none() {
            match self.port.lend(self.bytes) {
                Ok(lent) => self.next = Some(lent),
                Err(why) => error.note(format_args!("loan_slice_uninit: {why:?}")),
            }
        }
        self.next.as_mut().map(S::memory)
    }
}

impl<V: Service, S: Sends> middlemark_adapter::Publisher for Sender<V, S> {
    fn loan(&mut self, bytes: usize, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        if self.own.is_none() {
            return self.lend(error);
        }
        self.own.as_mut()?.loan(bytes)
    }

    fn publish(&mut self, error: &mut LastError) -> Published {
        if let Some(own) = self.own.take() {
            if let Some(memory) = self.lend(error) {
                // SAFETY: `memory` and the message in `own` have the size of the topic's messages.
                unsafe {
                    memory.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(own.message().as_ptr(), memory.len())
                };
            }
            self.own = Some(own);
        }
        self.drop_outdated_loan();
        let Some(lent) = self.next.take() else {
            return Published::Failed;
        };
        self.patience.fresh.store(true, Relaxed);
        // SAFETY: the contract requires that the caller has written all bytes of the message.
        let sent = unsafe { self.port.send(lent) };
        if let Some(bell) = self.bells.get(self.port.addressee()) {
            bell.ring(error); // even after a timeout: other receivers may have received the message
        }
        match sent {
            Ok(()) => Published::Ok,
            Err(why) if why == S::TIMED_OUT => Published::TimedOut,
            Err(why) => {
                error.note(format_args!("send: {why:?}"));
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        let found = self.port.found();
        self.bells.iter().for_each(Bell::connect);
        found
    }
}

pub trait Receives {
    /// Visits the next message. Returns false if there is none.
    fn receive(&self, visitor: Visitor<'_>) -> Result<bool, ReceiveError>;
    fn has(&self) -> bool;
    fn publishers(&self) -> Option<usize> {
        None
    }
}

pub struct Receiver<V: Service, R> {
    pub port: R,
    /// Waits for messages; `None` if receivers poll.
    pub sleeper: Option<Sleeper<V>>,
}

impl<V: Service, R: Receives> middlemark_adapter::Subscriber for Receiver<V, R> {
    const MOST_PER_TAKE: usize = 1024;

    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
        for visits in 0..Self::MOST_PER_TAKE {
            match self.port.receive(visitor) {
                Ok(true) => (),
                Ok(false) => return visits,
                Err(why) => {
                    error.note(format_args!("receive: {why:?}"));
                    return visits;
                }
            }
        }
        Self::MOST_PER_TAKE
    }

    /// Checks for messages before it sleeps: an earlier call may have consumed the ring for a message that was not
    /// taken yet.
    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool {
        match &self.sleeper {
            Some(sleeper) if !self.port.has() => sleeper.sleep(timeout, error),
            _ => true,
        }
    }

    fn publishers_found(&mut self) -> Option<usize> {
        self.port.publishers()
    }
}

/// A publisher or subscriber of one of the two variants of iceoryx2's service.
pub enum Either<A, B> {
    Ipc(A),
    Threadsafe(B),
}

macro_rules! with_either {
    ($either:expr, $end:ident => $does:expr) => {
        match $either {
            Either::Ipc($end) => $does,
            Either::Threadsafe($end) => $does,
        }
    };
}

impl<A: middlemark_adapter::Publisher, B: middlemark_adapter::Publisher> middlemark_adapter::Publisher
    for Either<A, B>
{
    #[inline]
    fn loan(&mut self, bytes: usize, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        with_either!(self, end => end.loan(bytes, error))
    }
    #[inline]
    fn publish(&mut self, error: &mut LastError) -> Published {
        with_either!(self, end => end.publish(error))
    }
    fn matched(&mut self) -> usize {
        with_either!(self, end => end.matched())
    }
}

impl<A: middlemark_adapter::Subscriber, B: middlemark_adapter::Subscriber> middlemark_adapter::Subscriber
    for Either<A, B>
{
    const MOST_PER_TAKE: usize = A::MOST_PER_TAKE;

    #[inline]
    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
        with_either!(self, end => end.take(visitor, error))
    }
    #[inline]
    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool {
        with_either!(self, end => end.wait(timeout, error))
    }
    fn publishers_found(&mut self) -> Option<usize> {
        with_either!(self, end => end.publishers_found())
    }
}

/// Limits how long a sender waits for full receivers. iceoryx2 retries for ever, but calls a handler before each retry.
/// All receivers of a message have one deadline, and the clock is read only if a receiver is full.
#[derive(Default)]
pub struct Patience {
    /// True until a full receiver delays the current message for the first time.
    fresh: Arc<AtomicBool>,
}

impl Patience {
    pub fn handler(&self, timeout: Duration) -> impl Fn(&BackpressureInfo) -> BackpressureAction + Send + 'static {
        let (fresh, until) = (self.fresh.clone(), Cell::new(Instant::now()));
        move |_| {
            if fresh.swap(false, Relaxed) {
                until.set(Instant::now() + timeout);
            }
            match Instant::now() < until.get() {
                true => BackpressureAction::Retry,
                false => BackpressureAction::DiscardDataAndFail,
            }
        }
    }
}
