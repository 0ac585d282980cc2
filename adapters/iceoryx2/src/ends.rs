//! What is the same for every end, whichever of iceoryx2's ports it has: where a message is written, how long it may be held up, and
//! how much one take visits.

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

/// One of iceoryx2's ports that send.
pub trait Sends {
    /// Memory of iceoryx2's for one message.
    type Lent;
    type Error: Debug + PartialEq;
    /// A receiver had no room until the write timeout was over.
    const TIMED_OUT: Self::Error;

    fn lend(&self, bytes: usize) -> Result<Self::Lent, LoanError>;
    fn memory(lent: &mut Self::Lent) -> &mut [MaybeUninit<u8>];
    /// # Safety
    /// All of the memory was written.
    unsafe fn send(&self, lent: Self::Lent) -> Result<(), Self::Error>;
    /// Whom the message is for, by its bell.
    fn addressee(&self) -> usize {
        0
    }
    /// What is lent is good for this turn only: a server's is gone with the request that it would answer.
    fn turn(&self) -> u64 {
        0
    }
    fn found(&self) -> usize;
}

/// Fields are dropped in this order: what was lent before who lent it.
pub struct Sender<V: Service, S: Sends> {
    /// The next message, and the turn that it was lent for.
    next: Option<S::Lent>,
    turn: u64,
    /// Without loans: written in, and copied into what is lent.
    own: Option<Buffer>,
    port: S,
    /// Empty where receivers poll.
    bells: Vec<Bell<V>>,
    patience: Patience,
    bytes: usize,
}

// SAFETY: ports count their references without atomics; they are made on one thread, used by one other, and nobody shares them but the
// two halves of a client or a server, which that thread both has.
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

    /// Lends the next message, unless that was done before.
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
        // SAFETY: bytes, of which every pattern is a value; the contract has the caller write them.
        let sent = unsafe { self.port.send(lent) };
        if let Some(bell) = self.bells.get(self.port.addressee()) {
            bell.ring(error); // also after a timeout: others may have got it
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

/// One of iceoryx2's ports that receive.
pub trait Receives {
    /// Visits the next message. False: there is none.
    fn receive(&self, visitor: Visitor<'_>) -> Result<bool, ReceiveError>;
    fn has(&self) -> bool;
    fn publishers(&self) -> Option<usize> {
        None
    }
}

pub struct Receiver<V: Service, R> {
    pub port: R,
    /// None where receivers poll.
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

    /// Looks before it sleeps: what was rung for may have been taken already, and what is there may have been rung for in an earlier
    /// call.
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

/// An end of either variant of iceoryx2's service.
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

/// Back-pressure that ends: iceoryx2 retries without a limit of time, but asks a handler before each retry. One deadline for all
/// receivers of a message: the clock is read only once a receiver is found to be full.
#[derive(Default)]
pub struct Patience {
    /// Nobody has made this message wait so far.
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
