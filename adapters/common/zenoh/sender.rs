//! Senders: publishers, a client's querier and a server's replies.

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use middlemark_adapter::{LastError, Published, Topic};
use zenoh::bytes::ZBytes;
use zenoh::handlers::Callback;
use zenoh::key_expr::KeyExpr;
use zenoh::liveliness::LivelinessToken;
use zenoh::query::{ConsolidationMode, Querier, Query, Reply};
use zenoh::shm::{GarbageCollect, ZShmMut};
use zenoh::{Result, Wait};

use super::alive::Role;
use super::receiver::Current;
use super::session::Session;
use crate::wire::{self, Frame};

/// The memory of the next message. zenoh takes ownership of a payload, so each message needs new memory.
enum Memory {
    Heap(Vec<u8>),
    /// From the session's pool.
    Lent(Option<ZShmMut>),
}

enum Route {
    Topic(wire::Publisher),
    Requests(Querier<'static>, Callback<Reply>),
    Replies { asked: Current<Query>, key: KeyExpr<'static> },
}

pub struct Sender {
    route: Route,
    memory: Memory,
    /// Bytes of the largest message with its frame.
    bytes: usize,
    /// Bytes of the current message with its frame.
    length: usize,
    frame: Frame,
    topic: String,
    /// A publish() that took at least this time counts as timed out. The value is slightly less than the write timeout,
    /// because the clock is coarse.
    given_up_ns: u64,
    gave_up: bool,
    // Declared after the route, so that Rust drops the token after the route.
    _token: Option<LivelinessToken>,
    session: Arc<Session>,
}

impl Sender {
    pub fn publisher(session: &Arc<Session>, topic: &Topic, index: u32) -> Result<Self> {
        let token = session.alive.token(Role::Publisher, topic, index)?;
        let frame = Frame::writing(topic, &token);
        let qos = session.qos(topic);
        let builder = session
            .zenoh
            .declare_publisher(session.alive.key(topic)?)
            .reliability(qos.reliability)
            .congestion_control(qos.congestion_control)
            .priority(qos.priority)
            .express(qos.express);
        let publisher = wire::declare_publisher(builder, topic)?;
        let token = session.alive.declare(token)?;
        Ok(Self::new(session, topic, frame, Route::Topic(publisher), token))
    }

    /// Declares a querier without consolidation, because consolidation would delay a reply until the query has ended.
    pub fn client(session: &Arc<Session>, service: &Topic, index: u32, replies: Callback<Reply>) -> Result<Self> {
        let qos = session.qos(service);
        let token = session.alive.token(Role::Client, service, index)?;
        let frame = Frame::writing(service, &token);
        let querier = session
            .zenoh
            .declare_querier(session.alive.key(service)?)
            .target(wire::TARGET)
            .congestion_control(qos.congestion_control)
            .priority(qos.priority)
            .express(qos.express)
            .consolidation(ConsolidationMode::None)
            .wait()?;
        let token = session.alive.declare(token)?;
        Ok(Self::new(session, service, frame, Route::Requests(querier, replies), token))
    }

    pub fn server(session: &Arc<Session>, service: &Topic, asked: Current<Query>) -> Result<Self> {
        let key = KeyExpr::try_from(session.alive.key(service)?)?;
        Ok(Self::new(session, service, Frame::reading(service), Route::Replies { asked, key }, None))
    }

    fn new(session: &Arc<Session>, topic: &Topic, frame: Frame, route: Route, token: Option<LivelinessToken>) -> Self {
        let bytes = frame.bytes() + topic.message_bytes;
        let mut sender = Self {
            route,
            memory: if session.pool.is_some() { Memory::Lent(None) } else { Memory::Heap(Vec::new()) },
            bytes,
            length: bytes,
            frame,
            topic: topic.name.to_string(),
            given_up_ns: (session.settings.write_timeout() * 9 / 10).as_nanos() as u64,
            gave_up: false,
            _token: token,
            session: session.clone(),
        };
        sender.reserve(Duration::ZERO);
        sender
    }

    /// Gets memory for the next message. Waits for it at most for `patience`. zenoh checks ten times per second which
    /// messages its peers have read, and only then frees the pool's memory.
    fn reserve(&mut self, patience: Duration) {
        const PAUSE: Duration = Duration::from_micros(200);
        match (&mut self.memory, &self.session.pool) {
            (Memory::Lent(next), Some(pool)) => {
                let mut until = None;
                while next.is_none() {
                    *next = pool.alloc(self.bytes).with_policy::<GarbageCollect>().wait().ok();
                    if next.is_none() {
                        if Instant::now() >= *until.get_or_insert_with(|| Instant::now() + patience) {
                            return;
                        }
                        std::thread::sleep(PAUSE);
                    }
                }
            }
            (Memory::Heap(next), _) if next.capacity() < self.bytes => *next = Vec::with_capacity(self.bytes),
            _ => (),
        }
    }

    /// Returns the message that was written, or `None` if there was no memory for it.
    fn written(&mut self) -> Option<ZBytes> {
        match &mut self.memory {
            Memory::Heap(next) if next.capacity() < self.bytes => None,
            Memory::Heap(next) => {
                // SAFETY: loan() returned `length` bytes of the vector's capacity, and the caller has written all of them.
                unsafe { next.set_len(self.length) };
                Some(std::mem::take(next).into())
            }
            Memory::Lent(next) => next.take().map(ZBytes::from),
        }
    }

    fn send(&mut self) -> Result<()> {
        let payload = self.written().ok_or("no memory was available for the message")?;
        match &self.route {
            Route::Topic(publisher) => publisher.put(payload).attachment(self.frame.attachment()).wait(),
            Route::Requests(querier, replies) => {
                let request = querier.get().payload(payload).attachment(self.frame.attachment());
                request.with(replies.clone()).wait()
            }
            Route::Replies { asked, key } => {
                // SAFETY: the pointer is null or points to the query that is being visited. The visitor makes this call, so
                // the query lives until this call has returned.
                let query = unsafe { asked.load(Ordering::Acquire).as_ref() }.ok_or("no request is being visited")?;
                let attachment = wire::attachment_of_reply(query);
                query.reply(key, payload).express(self.session.express()).attachment(attachment).wait()
            }
        }
    }
}

impl middlemark_adapter::Publisher for Sender {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.reserve(Duration::ZERO);
        self.length = self.frame.bytes() + bytes;
        let whole = match &mut self.memory {
            Memory::Heap(next) => next.spare_capacity_mut().get_mut(..self.length)?,
            // SAFETY: the caller writes the bytes, so they are initialised.
            Memory::Lent(next) => next.as_mut().map(|next| unsafe {
                let memory: &mut [u8] = next.as_mut();
                &mut *(std::ptr::from_mut(memory) as *mut [MaybeUninit<u8>])
            })?,
        };
        let (head, message) = whole.split_at_mut(self.frame.bytes());
        for (to, from) in head.iter_mut().zip(self.frame.head(bytes)) {
            to.write(from);
        }
        Some(message)
    }

    /// Sends the message, then gets memory for the next one, so that a wait for a full pool counts as back-pressure.
    /// zenoh reports no timeout; it closes the link or drops the message. So the elapsed time shows whether the publish
    /// has timed out.
    fn publish(&mut self, error: &mut LastError) -> Published {
        // After a timeout, zenoh accepts messages but sends none until the peer has connected again.
        if self.gave_up && self.matched() == 0 {
            return Published::Failed;
        }
        if self.session.alive.parted() {
            error.note(format_args!(
                "zenoh: the link to a peer was closed during the trial; messages in flight are lost"
            ));
        }
        let begin_ns = coarse_ns();
        let sent = self.send();
        if matches!(self.memory, Memory::Lent(_)) {
            // Wait less than the write timeout, so that a wait for memory does not count as a timeout.
            self.reserve(self.session.settings.write_timeout() * 4 / 5);
        }
        if let Err(why) = sent {
            error.note(format_args!("{why}"));
            return Published::Failed;
        }
        if coarse_ns() - begin_ns < self.given_up_ns {
            return Published::Ok;
        }
        error.note(format_args!("zenoh: a link was full for longer than the write timeout, and zenoh has closed it"));
        self.gave_up = true;
        Published::TimedOut
    }

    /// Returns the number of peers, counted by their tokens; without tokens, 1 if there are peers. Returns 0 until zenoh's
    /// matching status shows that zenoh would send to a peer.
    fn matched(&mut self) -> usize {
        if !self.session.can_send() {
            return 0;
        }
        let alive = &self.session.alive;
        let (status, role) = match &self.route {
            Route::Topic(publisher) => (publisher.matching_status().wait(), Role::Subscriber),
            Route::Requests(querier, _) => (querier.matching_status().wait(), Role::Server),
            Route::Replies { .. } => return alive.count(Role::Client, &self.topic).unwrap_or(1),
        };
        match status {
            Ok(status) if status.matching() => alive.count(role, &self.topic).unwrap_or(1),
            _ => 0,
        }
    }
}

/// Returns the time of a clock that can be read in a few ns. Its resolution of a few ms is enough to notice a timeout.
fn coarse_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
