//! The contract of `core/adapter.hpp` for adapters in Rust. An adapter implements [`Adapter`] (and [`RequestReply`], if
//! the middleware has its own request and reply) and calls `middlemark_adapter::worker!(Name);` once in its library.
//! `middlemark_rust_adapter()` in CMake builds the worker.
//!
//! Life of a worker: `open` → `publisher`/`subscriber` for each topic → (start) → `loan`/`publish`/`take`/`wait` on the
//! roles' threads → (stop) → subscribers and publishers dropped → adapter dropped. Calls before the start may fail with
//! an [`Error`]. Calls after the start do not allocate, log or lock, except within the middleware. A panic before the
//! start becomes an error; a panic after the start becomes a failed call, which the worker reports. No panic reaches
//! the C++ code.

mod applied;
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

pub use applied::Code;
pub use bridge::{AdapterCalls, Listener, Visitor};
pub use buffer::Buffer;
pub use description::*;
pub use error::{Error, LastError, Result};
pub use native::{Native, NativeTable, NativeValue};
pub use request::Request;
pub use settings::{every_pattern, List, Maybe, Settings, Text, Topic, MOST_PARTICIPANTS};

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The middleware accepted the message.
    Ok,
    /// Back-pressure lasted longer than the write timeout. None of the message was sent, or only a part.
    TimedOut,
    /// The middleware refused the message; `LastError` contains the reason.
    Failed,
}

/// Settings as a configuration file or as lines of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSettings {
    /// A word of `Language` in docs/reference/protocol.md: `json5`, `rust` and so on.
    pub language: &'static str,
    pub text: String,
}

/// Sends the messages of one topic. Used by one thread at a time. If a call fails, it writes the middleware's message
/// into `error`; the last message is reported after the end.
pub trait Publisher: Send {
    /// Returns memory of exactly `bytes` (always the topic's message size) to write a message in: the middleware's own
    /// if `Settings::loan` is set, otherwise a [`Buffer`] of the adapter. The caller owns the memory until the next
    /// `publish`; its content is undefined. Does not block. Returns `None` if the middleware has no memory to lend. A
    /// second call without a `publish` returns the same memory.
    fn loan(&mut self, bytes: usize, error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]>;
    /// Sends the message in the memory of the last `loan`; the caller has written all bytes. May block under
    /// back-pressure, at most for `Settings::write_timeout`.
    fn publish(&mut self, error: &mut LastError) -> Published;
    /// Returns the number of subscribers of this topic that this publisher has found so far (for a client: servers; for
    /// a server: clients). Called every few ms until all are found.
    fn matched(&mut self) -> usize;
}

/// Receives the messages of one topic. Used by one thread at a time. `error`: see [`Publisher`].
pub trait Subscriber: Send {
    /// The number of messages after which `take` returns even if more keep arriving, so that the role can check for the
    /// stop. The number can influence what is measured, so the description contains it. `usize::MAX`: no bound; `take`
    /// visits the messages that had arrived when it was called.
    const MOST_PER_TAKE: usize = usize::MAX;

    /// Visits messages that have arrived, in the middleware's order, and never blocks. Visits all messages that had
    /// arrived when it was called, or as many as `MOST_PER_TAKE` allows. After a `wait` it visits at least the messages
    /// that ended the `wait`. The visitor may publish on another topic. Returns the number of visits.
    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize;
    /// Blocks the way the middleware prefers until a message may have arrived or `timeout` (> 0) has passed. Returns
    /// true if `take` may find a message. Must return at once if messages arrived before the call and have not been
    /// taken.
    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool;
    /// Required if a transport lists "listen". Calls `listener` for each message on the middleware's own thread, never
    /// for two messages at a time, until `silence` returns. `take` and `wait` are not called meanwhile.
    fn listen(&mut self, _listener: Listener) -> Result<()> {
        Err("the middleware has no thread to listen on".into())
    }
    /// Stops the calls of the listener. After it returns, no call is running and none will follow.
    fn silence(&mut self) {}
    /// Returns the number of publishers of its topic that this subscriber has found so far. A trial starts after both
    /// sides have found each other. Returns `None` if the middleware does not report the number; the start then does not
    /// wait for it. Called like `matched`, but not for clients and servers.
    fn publishers_found(&mut self) -> Option<usize> {
        None
    }
}

/// Opens the middleware for this process, once. Publishers and subscribers are made on the main thread, before the
/// start, and each is used by one other thread. `index` counts the publishers (subscribers) of a topic over all
/// processes, from 0.
pub trait Adapter: Sized {
    type Publisher: Publisher;
    type Subscriber: Subscriber;

    /// Returns the description. Must not open the middleware, because every `middlemark list` calls it.
    fn describe() -> Description;
    /// Opens the middleware. The settings exist until the process ends.
    fn open(settings: &'static Settings) -> Result<Self>;
    fn publisher(&mut self, topic: &Topic, index: u32) -> Result<Self::Publisher>;
    fn subscriber(&mut self, topic: &Topic, index: u32) -> Result<Self::Subscriber>;
    /// Fails for unsupported combinations of settings, such as two settings that exclude each other. A transport's
    /// description and the table of native settings can only exclude single settings. Must not open the middleware.
    fn check(_settings: &'static Settings) -> Result<()> {
        Ok(())
    }
    /// Returns the daemons that a trial needs. Called in a separate process before any worker starts. May write files
    /// into `Settings::scratch`. Required if a transport sets `companions`, or lists another level of `via` than direct.
    fn companions(_settings: &'static Settings) -> Result<Vec<Companion>> {
        Ok(Vec::new())
    }
    /// Runs a companion that the adapter brings itself, as `WORKER --companion FILE` in `Companion::argv`. `companions` has
    /// written the file. Prints the line of `Companion::ready_pattern` when the companion is ready, and returns after
    /// SIGTERM.
    fn run_companion(_file: &str) -> Result<()> {
        Err("this adapter brings no companion".into())
    }
    /// Returns notes for the user on how the settings were applied. Called once, after matching.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the algorithms in force, as the middleware names them. Called once, after matching, in a trial with
    /// security; required if a transport lists a level of security. An adapter that cannot provide the requested level
    /// fails in `open`, and never sends without it.
    fn protected_by(&self) -> String {
        String::new()
    }
    /// Returns the settings of this process in the middleware's own form, for a user who wants to copy them. The
    /// adapter makes the text from the values that it passed to the middleware, not from a second list written by hand.
    /// The text contains no names of topics, no addresses and no paths of the trial, and no keys. Called once, after
    /// matching.
    fn own_settings(&self) -> Option<OwnSettings> {
        None
    }
    /// Returns the middleware's messages about rejected peers or other faults; empty if there were none. Called once if
    /// peers were not found in time. The text becomes part of the trial's error.
    fn refusals(&self) -> String {
        String::new()
    }
}

/// Optional: the middleware's own request and reply. A client or server consists of two halves, because one half sends
/// while the other visits. A single thread uses both: the role's or, under `listen`, the middleware's. In the argument
/// `service`, `publishers` is the number of clients; there is one server.
pub trait RequestReply: Adapter {
    type Requests: Publisher;
    type Replies: Subscriber;
    type Answers: Publisher;
    type Requested: Subscriber;

    /// Returns a half that sends requests and a half that receives their replies.
    fn client(&mut self, service: &Topic, index: u32) -> Result<(Self::Requests, Self::Replies)>;
    /// Returns a half that answers and a half that receives requests. While the receiving half visits a request, `loan`
    /// and `publish` of the answering half answer this request, at most once.
    fn server(&mut self, service: &Topic, index: u32) -> Result<(Self::Answers, Self::Requested)>;
}

/// Makes the library that `middlemark_rust_adapter()` links: `worker!(Name)`, or `worker!(Name, request_reply)` for an
/// adapter that implements [`RequestReply`].
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
