//! What has arrived at one end: one of zenoh's two channels, or a callback on zenoh's own thread.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zenoh::bytes::ZBytes;
use zenoh::handlers::{
    Callback, FifoChannel, FifoChannelHandler, IntoHandler, RingChannel, RingChannelHandler,
};
use zenoh::query::{Query, Reply};
use zenoh::sample::Sample;

use crate::endpoint::Endpoint;

pub trait Message: Send + 'static {
    fn payload(&self) -> Option<&ZBytes>;
}

impl Message for Sample {
    fn payload(&self) -> Option<&ZBytes> {
        Some(Sample::payload(self))
    }
}

impl Message for Query {
    fn payload(&self) -> Option<&ZBytes> {
        Query::payload(self)
    }
}

impl Message for Reply {
    fn payload(&self) -> Option<&ZBytes> {
        self.result().ok().map(Sample::payload)
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Visitor {
    visit: extern "C" fn(*mut c_void, *const u8, usize),
    context: *mut c_void,
}

// C++ keeps the object that it points to until silence() has returned.
unsafe impl Send for Visitor {}

/// The message that is being visited; a server answers it.
pub type Current<T> = Arc<AtomicPtr<T>>;

/// Shows messages to a visitor in one piece.
struct Presenter<T> {
    current: Current<T>,
    /// Where a message that came in fragments is put together; it only ever grows to the size of the topic's messages.
    joined: Vec<u8>,
}

impl<T: Message> Presenter<T> {
    fn show(&mut self, message: &T, visitor: Visitor) -> bool {
        let Some(payload) = message.payload() else {
            return false;
        };
        let mut slices = payload.slices();
        let whole = slices.next().unwrap_or_default();
        let bytes = if whole.len() == payload.len() {
            whole
        } else {
            self.joined.clear();
            self.joined.extend_from_slice(whole);
            slices.for_each(|slice| self.joined.extend_from_slice(slice));
            &self.joined
        };
        self.current
            .store(std::ptr::from_ref(message).cast_mut(), Ordering::Release);
        (visitor.visit)(visitor.context, bytes.as_ptr(), bytes.len());
        self.current.store(std::ptr::null_mut(), Ordering::Release);
        true
    }
}

struct Ear<T> {
    visitor: Option<Visitor>,
    presenter: Presenter<T>,
}

enum Source<T> {
    Fifo(FifoChannelHandler<T>),
    Ring(RingChannelHandler<T>),
    /// Locked for the whole of a call: two links deliver on two threads of zenoh's.
    Callback(Arc<Mutex<Ear<T>>>),
}

pub struct Inbox<T> {
    source: Source<T>,
    /// Set after something was put into the channel: whoever polls looks here first. The channels are locked to be looked
    /// into, and zenoh's thread on the same processor would hardly ever find the lock free.
    arrived: Arc<AtomicBool>,
    /// What wait() took out of the channel.
    announced: Option<T>,
    presenter: Presenter<T>,
}

impl<T: Message> Inbox<T> {
    /// So many visits a take(): a fast publisher must not keep it from returning.
    const MOST_PER_TAKE: usize = 64;

    pub fn open(endpoint: &Endpoint, current: &Current<T>) -> (Callback<T>, Self) {
        let presenter = || Presenter {
            current: current.clone(),
            joined: Vec::with_capacity(endpoint.bytes),
        };
        let arrived = Arc::new(AtomicBool::new(false));
        let flagged = |callback: Callback<T>| {
            let arrived = arrived.clone();
            Callback::from(move |message: T| {
                callback.call(message);
                arrived.store(true, Ordering::Release);
            })
        };
        let (callback, source) = if endpoint.listen {
            let ear = Arc::new(Mutex::new(Ear {
                visitor: None,
                presenter: presenter(),
            }));
            let called = ear.clone();
            let hear = move |message: T| {
                let mut ear = called.lock().unwrap();
                if let Some(visitor) = ear.visitor {
                    ear.presenter.show(&message, visitor);
                }
            };
            (Callback::from(hear), Source::Callback(ear))
        } else if endpoint.ring {
            let (callback, handler) = RingChannel::new(endpoint.capacity).into_handler();
            (flagged(callback), Source::Ring(handler))
        } else {
            let (callback, handler) = FifoChannel::new(endpoint.capacity).into_handler();
            (flagged(callback), Source::Fifo(handler))
        };
        (
            callback,
            Self {
                source,
                arrived,
                announced: None,
                presenter: presenter(),
            },
        )
    }

    pub fn take(&mut self, visitor: Visitor) -> usize {
        let mut visits = 0;
        if let Some(message) = self.announced.take() {
            visits += usize::from(self.presenter.show(&message, visitor));
        }
        if !self.arrived.load(Ordering::Relaxed) {
            return visits;
        }
        self.arrived.swap(false, Ordering::Acquire);
        while let Some(message) = self.next() {
            visits += usize::from(self.presenter.show(&message, visitor));
            if visits >= Self::MOST_PER_TAKE {
                self.arrived.store(true, Ordering::Relaxed);
                break;
            }
        }
        visits
    }

    fn next(&self) -> Option<T> {
        match &self.source {
            Source::Fifo(channel) => channel.try_recv().ok().flatten(),
            Source::Ring(channel) => channel.try_recv().ok().flatten(),
            Source::Callback(_) => None,
        }
    }

    pub fn wait(&mut self, timeout: Duration) -> bool {
        if self.announced.is_none() {
            self.announced = match &self.source {
                Source::Fifo(channel) => channel.recv_timeout(timeout).ok().flatten(),
                Source::Ring(channel) => channel.recv_timeout(timeout).ok().flatten(),
                Source::Callback(_) => None,
            };
        }
        self.announced.is_some()
    }

    /// None ends the listening; then no call is under way when it returns.
    pub fn listen(&mut self, visitor: Option<Visitor>) {
        if let Source::Callback(ear) = &self.source {
            ear.lock().unwrap().visitor = visitor;
        }
    }
}
