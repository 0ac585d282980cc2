//! The contract of `core/adapter.hpp` for adapters in Rust. An adapter implements [`Adapter`] (and [`RequestReply`], where the
//! middleware has request and reply of its own) and says once, in its library, `middlemark_adapter::worker!(Name);`.
//! `middlemark_rust_adapter()` in CMake makes the worker of it.
//!
//! Life of a worker: `open` → `publisher`/`subscriber` for each topic → (start) → `loan`/`publish`/`take`/`wait` on the roles'
//! threads → (stop) → subscribers and publishers dropped → adapter dropped. Everything before the start may fail with an
//! [`Error`]; what runs after it neither allocates, logs nor locks, but for what the middleware itself does. A panic before the
//! start is an error; after it the call has failed and the worker tells of it. None leaves this crate.

mod bridge;
mod buffer;
mod description;
mod error;
mod json;
mod native;
mod request;
mod settings;

use std::mem::MaybeUninit;
use std::time::Duration;

pub use bridge::{AdapterCalls, Listener, Visitor};
pub use buffer::Buffer;
pub use description::*;
pub use error::{Error, LastError, Result};
pub use native::{Native, NativeTable, NativeValue};
pub use request::Request;
pub use settings::{List, Maybe, Settings, Text, Topic};

/// What a publish() came to.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Handed to the middleware.
    Ok,
    /// Back-pressure lasted longer than the write timeout; the message was not, or not wholly, sent.
    TimedOut,
    /// The middleware refused; its words are noted.
    Failed,
}

/// Sends the messages of one topic. Used by one thread at a time. `error` takes the middleware's own words for what failed; the last
/// are told after the end.
pub trait Publisher: Send {
    /// Memory of exactly `bytes` (always the topic's message size) to write in: the middleware's own when `Settings::loan` is
    /// set, else a [`Buffer`] of the adapter's. It is the caller's until the next `publish`; what is in it does not matter. Does not
    /// block. `None`: the middleware has none to lend. Called twice without a `publish` it gives the same memory again.
    fn loan(&mut self, bytes: usize, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]>;
    /// Hands over what `loan` gave; the caller has written all of it. May block for back-pressure, at most
    /// `Settings::write_timeout`.
    fn publish(&mut self, error: &mut LastError) -> Published;
    /// Subscribers of this topic (of a client: servers; of a server: clients) that were found so far. Called every few ms until
    /// all are there.
    fn matched(&mut self) -> usize;
}

/// Receives the messages of one topic. Used by one thread at a time. `error`: as of a publisher.
pub trait Subscriber: Send {
    /// How many messages a `take` visits before it returns, however fast they come: the role looks for its stop between two
    /// calls. It can influence what is measured, so the description tells it. `usize::MAX`: what was there when it was called.
    const MOST_PER_TAKE: usize = usize::MAX;

    /// Visits messages that have arrived, in the middleware's order, and never blocks: all that were there when it was called, or
    /// as many as `MOST_PER_TAKE` allows; after a `wait`, at least what it announced. The visitor may publish on
    /// another topic. Returns the number of visits.
    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize;
    /// Blocks the way the middleware wants it until something may be there or `timeout` (> 0) has passed. True: `take` is worth
    /// calling. Must return at once when messages arrived before the call and have not been taken.
    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool;
    /// Only where the transport lists "listen": calls `listener` for each message on the middleware's own thread, never for two
    /// messages at a time, until `silence` returns. `take` and `wait` are not called meanwhile.
    fn listen(&mut self, _listener: Listener) -> Result<()> {
        Err("the middleware has no thread to listen on".into())
    }
    /// Ends the listening. When it returns no call is under way and none will follow.
    fn silence(&mut self) {}
    /// Publishers of its topic that were found so far: a trial starts when both sides have found each other. `None`: the
    /// middleware does not tell, and nobody waits for it. Called like `matched`; not asked of clients and servers.
    fn publishers_found(&mut self) -> Option<usize> {
        None
    }
}

/// Opens the middleware for this process, once. Publishers and subscribers are made on the main thread, before the start, and used
/// by one other; `index` counts those of a topic over all processes, from 0.
pub trait Adapter: Sized {
    type Publisher: Publisher;
    type Subscriber: Subscriber;

    /// Opens nothing: it is asked on every `list`.
    fn describe() -> Description;
    /// The settings live as long as the process.
    fn open(settings: &'static Settings) -> Result<Self>;
    fn publisher(&mut self, topic: &Topic, index: u32) -> Result<Self::Publisher>;
    fn subscriber(&mut self, topic: &Topic, index: u32) -> Result<Self::Subscriber>;
    /// Refuses what neither a transport's description nor the table of native settings can tell, as two settings that exclude each
    /// other. Opens nothing.
    fn check(_settings: &'static Settings) -> Result<()> {
        Ok(())
    }
    /// The daemons that a trial needs, asked of a separate process before any worker starts. May write files into
    /// `Settings::scratch`. Only where a transport says `companions`.
    fn companions(_settings: &'static Settings) -> Result<Vec<Companion>> {
        Ok(Vec::new())
    }
    /// What the engineer should know of how the settings were carried out. Asked once, after matching.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// The algorithms in force, in the middleware's words. Asked once, after matching, of a trial with security; required where a
    /// transport lists a level. An adapter that cannot have the level asked for fails in `open`, and never sends without it.
    fn protected_by(&self) -> String {
        String::new()
    }
    /// What the middleware has said of whom it did not let in, or of what else went wrong; empty: nothing. Asked once, when peers
    /// were not found in time; it becomes part of the trial's error.
    fn refusals(&self) -> String {
        String::new()
    }
}

/// Optional: request and reply as the middleware itself has them. Both ends are two halves, for one is used while the other visits;
/// a single thread uses both, or, under `listen`, the middleware's. The service counts its clients as publishers; it has one server.
pub trait RequestReply: Adapter {
    type Requests: Publisher;
    type Replies: Subscriber;
    type Answers: Publisher;
    type Requested: Subscriber;

    /// The first sends requests; the second brings the replies to its own requests.
    fn client(&mut self, service: &Topic, index: u32) -> Result<(Self::Requests, Self::Replies)>;
    /// The second brings requests. While it visits one, the first's `loan` and `publish` answer that very request, at most once.
    fn server(&mut self, service: &Topic, index: u32) -> Result<(Self::Answers, Self::Requested)>;
}

/// Makes the library that `middlemark_rust_adapter()` links: `worker!(Name)`, or `worker!(Name, request_reply)` for one that
/// implements [`RequestReply`].
#[macro_export]
macro_rules! worker {
    ($adapter:ty) => {
        $crate::worker!(@ $crate::AdapterCalls::of::<$adapter>());
    };
    ($adapter:ty, request_reply) => {
        $crate::worker!(@ $crate::AdapterCalls::with_request_reply::<$adapter>());
    };
    (@ $calls:expr) => {
        #[no_mangle]
        pub extern "C" fn middlemark_rust_adapter() -> *const $crate::AdapterCalls {
            static CALLS: $crate::AdapterCalls = $calls;
            &CALLS
        }
    };
}
