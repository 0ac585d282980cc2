//! Code that all of iceoryx2's ports share: where a message is written, how long a sender may wait, and how many
//! messages one take visits.

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

/// An iceoryx2 port that sends.
pub trait Sends {
    /// iceoryx2's memory for one message.
    type Lent;
    type Error: Debug + PartialEq;
    /// The error when a receiver had no space until the write timeout.
    const TIMED_OUT: Self::Error;

    fn lend(&self, bytes: usize) -> Result<Self::Lent, LoanError>;
    fn memory(lent: &mut Self::Lent) -> &mut [MaybeUninit<u8>];
    /// # Safety
    /// All of the memory must have been written.
    unsafe fn send(&self, lent: Self::Lent) -> Result<(), Self::Error>;
    /// Index of the receiver's bell.
    fn addressee(&self) -> usize {
        0
    }
    /// Identifies the request that is being answered: memory that a server borrowed for one request is invalid for the
    /// next.
    fn turn(&self) -> u64 {
        0
    }
    fn found(&self) -> usize;
}

/// Fields are dropped in this order, so the loan is dropped before its port.
pub struct Sender<V: Service, S: Sends> {
    /// The memory of the next message.
    next: Option<S::Lent>,
    turn: u64,
    /// The buffer that is copied into the loan, if the trial does not use loans.
    own: Option<Buffer>,
    port: S,
    /// Empty if receivers poll.
    bells: Vec<Bell<V>>,
    patience: Patience,
    bytes: usize,
}

// SAFETY: ports count their references without atomics. They are made on one thread and used by one other. Only the two
// halves of a client or a server share a port, and the same thread uses both.
unsafe impl<V: Service, S: Sends> Send for Sender<V, S> {}
unsafe impl<V: Service, R> Send for Receiver<V, R> {}

impl<V: Service, S: Sends> Sender<V, S> {
    pub fn new(trial: &Trial<V>, topic: &Topic, port: S, bells: Vec<Bell<V>>, patience: Patience) -> Self {
        let bytes = topic.message_bytes;
        let own = (!trial.settings.loan).then(|| Buffer::of(bytes));
        Self { next: None, turn: 0, own, port, bells, patience, bytes }
    }

    fn forget_another_turn(&mut self) {
        let turn = self.port.turn();
        if self.turn != turn {
            self.turn = turn;
            self.next = None;
        }
    }

    /// Borrows the memory of the next message, unless it was borrowed before.
    fn lend(&mut self, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.forget_another_turn();
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
                // SAFETY: both have the size of the topic's messages.
                unsafe {
                    memory.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(own.message().as_ptr(), memory.len())
                };
            }
            self.own = Some(own);
        }
        self.forget_another_turn();
        let Some(lent) = self.next.take() else {
            return Published::Failed;
        };
        self.patience.fresh.store(true, Relaxed);
        // SAFETY: every bit pattern of a byte is a valid value, and the contract requires that the caller has written
        // them.
        let sent = unsafe { self.port.send(lent) };
        if let Some(bell) = self.bells.get(self.port.addressee()) {
            bell.ring(error); // also after a timeout, because other receivers may have got the message
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

/// An iceoryx2 port that receives.
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
    /// None if receivers poll.
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

    /// Checks for messages before it sleeps: the message of an earlier ring may be taken already, and the ring of a
    /// message that is there may have been consumed by an earlier call.
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

/// A publisher or subscriber of either variant of iceoryx2's service.
pub enum Either<A, B> {
    Ipc(A),
    Threadsafe(B),
}

macro_rules! of_either {
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
        of_either!(self, end => end.loan(bytes, error))
    }
    #[inline]
    fn publish(&mut self, error: &mut LastError) -> Published {
        of_either!(self, end => end.publish(error))
    }
    fn matched(&mut self) -> usize {
        of_either!(self, end => end.matched())
    }
}

impl<A: middlemark_adapter::Subscriber, B: middlemark_adapter::Subscriber> middlemark_adapter::Subscriber
    for Either<A, B>
{
    const MOST_PER_TAKE: usize = A::MOST_PER_TAKE;

    #[inline]
    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
        of_either!(self, end => end.take(visitor, error))
    }
    #[inline]
    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool {
        of_either!(self, end => end.wait(timeout, error))
    }
    fn publishers_found(&mut self) -> Option<usize> {
        of_either!(self, end => end.publishers_found())
    }
}

/// Limits back-pressure: iceoryx2 retries forever, but calls a handler before each retry. There is one deadline for all
/// receivers of a message, and the clock is read only after a receiver was found to be full.
#[derive(Default)]
pub struct Patience {
    /// True until a full receiver delays the current message.
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
