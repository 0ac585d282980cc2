//! The settings of a trial (see `core/settings.hpp`). They are views of memory that C++ keeps, with the layout of the
//! structs in `core/kit/rust_views.hpp`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

use crate::description::{MessageType, Pattern, Reliability, DEFAULT_CONFIGURATION};
use crate::native::NativeValue;
use crate::request::Request;

/// `Transport::participants_per_process` if a process may contain any number of participants of a crowd.
pub const MOST_PARTICIPANTS: usize = 500;

/// Returns `Transport::patterns` of a transport that supports crowds.
pub fn every_pattern() -> Vec<Pattern> {
    vec![Pattern::PingPong, Pattern::Stream, Pattern::RequestReply, Pattern::Crowd]
}

/// A list of values that C++ keeps; dereferences to a slice.
#[repr(C)]
pub struct List<'a, T> {
    items: *const T,
    count: usize,
    life: PhantomData<&'a [T]>,
}

/// A text that C++ keeps; dereferences to `str`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text<'a>(List<'a, u8>);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Maybe<T> {
    given: bool,
    value: T,
}

impl<T: Copy> Maybe<T> {
    pub fn get(self) -> Option<T> {
        self.given.then_some(self.value)
    }
}

/// The settings of one trial, and values computed from them. Immutable.
#[repr(C)]
pub struct Settings {
    pub(crate) request: Request,
    /// All topics and services of the trial, including those that this process does not use.
    pub endpoints: List<'static, Topic<'static>>,
    pub(crate) native: List<'static, NativeValue>,
    ipv4: Text<'static>,
    /// Size of /dev/shm, and its free space when the worker read its settings, in bytes. 0 if there is none.
    pub shm_bytes: usize,
    pub shm_free_bytes: usize,
}

impl Deref for Settings {
    type Target = Request;
    fn deref(&self) -> &Request {
        &self.request
    }
}

/// A topic, or a service, of the trial. All counts are known when the trial starts.
#[repr(C)]
pub struct Topic<'a> {
    /// Begins with the trial's scope.
    pub name: Text<'a>,
    pub message_bytes: usize,
    /// Number of publishers in all processes of the trial; for a service: the number of clients.
    pub publishers: u32,
    /// Number of subscribers in all processes of the trial; for a service: 1, the server.
    pub subscribers: u32,
    /// Number of publishers (subscribers) in this process.
    pub publishers_here: u32,
    pub subscribers_here: u32,
    depth: Maybe<u32>,
    /// Transient-local: the number of messages that a late joiner must receive; 0: volatile.
    pub history: u32,
    pub reliability: Reliability,
    /// If the bytes of each message are the CDR of a typed message: its type.
    pub content: MessageType,
    /// True if this is a service: the middleware's own request and reply.
    pub service: bool,
}

impl Settings {
    /// Keep-last history depth in messages; `None` is keep-all.
    pub fn depth(&self) -> Option<u32> {
        self.depth.get()
    }

    pub fn write_timeout(&self) -> Duration {
        Duration::from_nanos(self.write_timeout_ns)
    }

    /// The native settings of the trial, as the core has read them: see `native_settings!`.
    pub fn native(&self) -> &'static [NativeValue] {
        self.native.get()
    }

    pub fn reliable(&self) -> bool {
        self.reliability == Reliability::Reliable
    }

    pub fn is_default_configuration(&self) -> bool {
        self.transport == DEFAULT_CONFIGURATION
    }

    /// Returns the IPv4 address of the interface. Fails if it has none.
    pub fn ipv4(&self) -> crate::Result<&'static str> {
        if self.ipv4.is_empty() {
            let text = format!("the interface {} has no IPv4 address", self.interface);
            return Err(crate::Error::new(text, "give it an IPv4 address, or name another interface"));
        }
        Ok(self.ipv4.get())
    }

    /// Returns the path of a certificate file of the trial: `credential("sender", ".key")`. `docs/how-to/security.md` lists the
    /// names.
    pub fn credential(&self, identity: &str, ending: &str) -> std::path::PathBuf {
        std::path::Path::new(self.certs.get()).join(format!("{identity}{ending}"))
    }

    /// Fails if `bytes` do not fit into /dev/shm, because a write to a full /dev/shm would end the process. `what`
    /// names the objects that need the memory. `otherwise` is the advice for a user who cannot enlarge /dev/shm.
    pub fn shm_holds(&self, bytes: usize, what: &str, otherwise: &str) -> crate::Result<()> {
        if bytes <= self.shm_free_bytes {
            return Ok(());
        }
        let mib = |bytes| bytes / (1 << 20);
        let (needed, whole, free) = (mib(bytes) + 1, mib(self.shm_bytes), mib(self.shm_free_bytes));
        let size = needed + whole;
        Err(crate::Error::new(
            format!("{what} need up to {needed} MiB in /dev/shm, where {free} MiB are free"),
            format!("sudo mount -o remount,size={size}M /dev/shm (in a container: --shm-size), or {otherwise}"),
        ))
    }
}

impl Topic<'_> {
    pub fn reliable(&self) -> bool {
        self.reliability == Reliability::Reliable
    }

    /// Keep-last history depth in messages; `None` is keep-all.
    pub fn depth(&self) -> Option<u32> {
        self.depth.get()
    }

    /// Returns how many messages wait for a subscriber when each publisher has filled its history. `None`: no bound.
    pub fn capacity(&self) -> Option<usize> {
        self.depth().map(|depth| depth as usize * self.publishers as usize)
    }
}

// SAFETY: a list only reads the memory that it points to, and C++ does not change this memory.
unsafe impl<T: Sync> Send for List<'_, T> {}
unsafe impl<T: Sync> Sync for List<'_, T> {}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<'_, T> {}

impl<'a, T> List<'a, T> {
    pub fn of(items: &'a [T]) -> Self {
        Self { items: items.as_ptr(), count: items.len(), life: PhantomData }
    }

    pub fn get(self) -> &'a [T] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: C++ made the list and keeps its `count` items for the lifetime `'a`.
        unsafe { std::slice::from_raw_parts(self.items, self.count) }
    }
}

impl<T> Deref for List<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.get()
    }
}

impl<'a> Text<'a> {
    pub fn of(text: &'a str) -> Self {
        Self(List::of(text.as_bytes()))
    }

    /// Returns the text. It is UTF-8, because C++ read it from JSON.
    pub fn get(self) -> &'a str {
        std::str::from_utf8(self.0.get()).unwrap_or_default()
    }
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        self.get()
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self)
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.get(), to)
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.get() == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.get() == *other
    }
}
