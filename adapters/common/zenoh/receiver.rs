//! Receivers: subscribers, a client's replies and a server's queryable. Messages wait in one of zenoh's two kinds of channel,
//! or arrive in a callback on a thread of zenoh.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use middlemark_adapter::{LastError, Listener, Topic, Visitor};
use zenoh::bytes::ZBytes;
use zenoh::handlers::{Callback, FifoChannel, FifoChannelHandler, IntoHandler, RingChannel, RingChannelHandler};
use zenoh::query::{Query, Reply};
use zenoh::sample::Sample;
use zenoh::{Result, Wait};

use super::alive::Role;
use super::session::{Session, Waiting};
use crate::wire::{self, Frame};

/// Points to the message that is being visited, so that a server can answer it; null outside a visit.
pub type Current<T> = Arc<AtomicPtr<T>>;

/// Returns a message's payload and attachment.
type Parts<T> = fn(&T) -> Option<(&ZBytes, Option<&ZBytes>)>;

/// Shows each message to a visitor as one slice.
struct Presenter<T> {
    parts: Parts<T>,
    frame: Frame,
    current: Current<T>,
    /// The bytes of a message that arrived in fragments, copied into one piece.
    joined: Vec<u8>,
    /// A message was not in the format of this adapter.
    refused: bool,
    /// `Some` while a role listens.
    listener: Option<Listener>,
    /// The messages that arrived before a role listened, such as a history within a process; `None` once it has listened.
    early: Option<Vec<T>>,
}

impl<T> Presenter<T> {
    fn show(&mut self, message: &T, visitor: Visitor<'_>) -> bool {
        let Some((payload, attachment)) = (self.parts)(message) else {
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
        let Some(bytes) = self.frame.message(bytes, attachment) else {
            self.refused = true;
            return false;
        };
        self.current.store(std::ptr::from_ref(message).cast_mut(), Ordering::Release);
        visitor.visit(bytes);
        self.current.store(std::ptr::null_mut(), Ordering::Release);
        true
    }
}

enum Source<T> {
    Fifo(FifoChannelHandler<T>),
    Ring(RingChannelHandler<T>),
    /// Locked during each callback, because two links deliver on two threads of zenoh.
    Callback(Arc<Mutex<Presenter<T>>>),
}

pub struct Receiver<T> {
    source: Source<T>,
    /// Set after a message was put into the channel. take() checks this flag first, because reading the channel takes
    /// its lock. A poller that locks it all the time would keep zenoh's thread on the same processor from locking it.
    arrived: Arc<AtomicBool>,
    /// The message that wait() took from the channel.
    announced: Option<T>,
    presenter: Presenter<T>,
    topic: String,
    session: Arc<Session>,
    /// The declared subscriber, querier or queryable, and its liveliness token. The token is declared last and dropped
    /// last.
    declared: Option<Box<dyn Send>>,
}

impl Receiver<Sample> {
    pub fn subscriber(session: &Arc<Session>, topic: &Topic, index: u32) -> Result<Self> {
        let parts: Parts<Sample> = |sample| Some((sample.payload(), sample.attachment()));
        let (callback, mut receiver) = Self::open(session, topic, parts, Current::default());
        let builder = session.zenoh.declare_subscriber(session.alive.key(topic)?).with(callback);
        let subscriber = wire::declare_subscriber(builder, topic)?;
        let token = session.alive.token(Role::Subscriber, topic, index)?;
        receiver.declared = Some(Box::new((subscriber, session.alive.declare(token)?)));
        Ok(receiver)
    }
}

impl Receiver<Query> {
    pub fn server(session: &Arc<Session>, service: &Topic, index: u32, asked: Current<Query>) -> Result<Self> {
        let parts: Parts<Query> = |query| query.payload().map(|payload| (payload, query.attachment()));
        let (callback, mut receiver) = Self::open(session, service, parts, asked);
        let queryable = session.zenoh.declare_queryable(session.alive.key(service)?).complete(wire::COMPLETE);
        let queryable = queryable.with(callback).wait()?;
        let token = session.alive.token(Role::Server, service, index)?;
        receiver.declared = Some(Box::new((queryable, session.alive.declare(token)?)));
        Ok(receiver)
    }
}

impl Receiver<Reply> {
    pub fn replies(session: &Arc<Session>, service: &Topic) -> (Callback<Reply>, Self) {
        let parts: Parts<Reply> = |reply| reply.result().ok().map(|sample| (sample.payload(), sample.attachment()));
        Self::open(session, service, parts, Current::default())
    }
}

impl<T: Send + 'static> Receiver<T> {
    fn open(session: &Arc<Session>, topic: &Topic, parts: Parts<T>, current: Current<T>) -> (Callback<T>, Self) {
        let presenter = || {
            let frame = Frame::reading(topic);
            let joined = Vec::with_capacity(frame.bytes() + topic.message_bytes);
            Presenter {
                parts,
                frame,
                current: current.clone(),
                joined,
                refused: false,
                listener: None,
                early: Some(Vec::new()),
            }
        };
        let arrived = Arc::new(AtomicBool::new(false));
        let flagged = |callback: Callback<T>| {
            let arrived = arrived.clone();
            Callback::from(move |message: T| {
                callback.call(message);
                arrived.store(true, Ordering::Release);
            })
        };
        let (callback, source) = match session.waiting(topic) {
            Waiting::Callback => {
                let presenter = Arc::new(Mutex::new(presenter()));
                let called = presenter.clone();
                let deliver = move |message: T| {
                    let mut presenter = called.lock().unwrap();
                    if let Some(listener) = presenter.listener {
                        presenter.show(&message, listener.visitor());
                    } else if let Some(early) = &mut presenter.early {
                        early.push(message);
                    }
                };
                (Callback::from(deliver), Source::Callback(presenter))
            }
            Waiting::RingChannel(capacity) => {
                let (callback, handler) = RingChannel::new(capacity).into_handler();
                (flagged(callback), Source::Ring(handler))
            }
            Waiting::FifoChannel(capacity) => {
                let (callback, handler) = FifoChannel::new(capacity).into_handler();
                (flagged(callback), Source::Fifo(handler))
            }
        };
        let (presenter, topic) = (presenter(), topic.name.to_string());
        let session = session.clone();
        (callback, Self { source, arrived, announced: None, presenter, topic, session, declared: None })
    }

    fn next(&self) -> Option<T> {
        match &self.source {
            Source::Fifo(channel) => channel.try_recv().ok().flatten(),
            Source::Ring(channel) => channel.try_recv().ok().flatten(),
            Source::Callback(_) => None,
        }
    }

    /// Sets the listener, which first gets the messages that arrived before. `None` removes it and waits for a running
    /// callback.
    fn set_listener(&mut self, listener: Option<Listener>) {
        if let Source::Callback(presenter) = &self.source {
            let mut presenter = presenter.lock().unwrap();
            presenter.listener = listener;
            for message in presenter.early.take().into_iter().flatten() {
                if let Some(listener) = presenter.listener {
                    presenter.show(&message, listener.visitor());
                }
            }
        }
    }
}

impl<T: Send + 'static> middlemark_adapter::Subscriber for Receiver<T> {
    const MOST_PER_TAKE: usize = 64;

    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
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
        if self.presenter.refused {
            error.note(format_args!("zenoh: a message arrived that is not in the format of this adapter"));
        }
        visits
    }

    fn wait(&mut self, timeout: Duration, _error: &mut LastError) -> bool {
        if self.announced.is_none() {
            self.announced = match &self.source {
                Source::Fifo(channel) => channel.recv_timeout(timeout).ok().flatten(),
                Source::Ring(channel) => channel.recv_timeout(timeout).ok().flatten(),
                Source::Callback(_) => None,
            };
        }
        self.announced.is_some()
    }

    fn listen(&mut self, listener: Listener) -> middlemark_adapter::Result<()> {
        self.set_listener(Some(listener));
        Ok(())
    }

    fn silence(&mut self) {
        self.set_listener(None);
    }

    fn publishers_found(&mut self) -> Option<usize> {
        self.session.alive.count(Role::Publisher, &self.topic)
    }
}
