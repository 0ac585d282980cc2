//! A minimal adapter in Rust, with memory for one message. `bridge.cpp` contains the same adapter in C++, and measures
//! the cost of the bridge.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use middlemark_adapter::{
    Adapter, Description, LastError, Published, Publisher, Result, Settings, Subscriber, Topic, Visitor,
};

middlemark_adapter::worker!(Mailbox);

const BYTES: usize = 64;
const WORDS: usize = BYTES / 8;

#[derive(Default)]
struct Place {
    published: AtomicU64,
    words: [AtomicU64; WORDS],
}

struct Mailbox {
    place: Arc<Place>,
}

struct Sender {
    place: Arc<Place>,
    own: [u64; WORDS],
    sent: u64,
}

struct Receiver {
    place: Arc<Place>,
    own: [u64; WORDS],
    seen: u64,
}

impl Adapter for Mailbox {
    type Publisher = Sender;
    type Subscriber = Receiver;

    fn describe() -> Description {
        Description { name: "mailbox", bench_only: true, ..Description::default() }
    }

    fn open(_settings: &'static Settings) -> Result<Self> {
        Ok(Self { place: Arc::default() })
    }

    fn publisher(&mut self, _topic: &Topic, _index: u32) -> Result<Sender> {
        Ok(Sender { place: self.place.clone(), own: [0; WORDS], sent: 0 })
    }

    fn subscriber(&mut self, _topic: &Topic, _index: u32) -> Result<Receiver> {
        Ok(Receiver { place: self.place.clone(), own: [0; WORDS], seen: 0 })
    }
}

impl Publisher for Sender {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        // SAFETY: `own` has BYTES bytes, and any bytes are a valid [u64]; callers only write initialised bytes.
        let own = unsafe { std::slice::from_raw_parts_mut(self.own.as_mut_ptr().cast(), BYTES) };
        own.get_mut(..bytes)
    }

    fn publish(&mut self, _error: &mut LastError) -> Published {
        for (to, from) in self.place.words.iter().zip(self.own) {
            to.store(from, Ordering::Relaxed);
        }
        self.sent += 1;
        self.place.published.store(self.sent, Ordering::Release);
        Published::Ok
    }

    fn matched(&mut self) -> usize {
        1
    }
}

impl Subscriber for Receiver {
    fn take(&mut self, visitor: Visitor<'_>, _error: &mut LastError) -> usize {
        let published = self.place.published.load(Ordering::Acquire);
        if published == self.seen {
            return 0;
        }
        self.seen = published;
        for (to, from) in self.own.iter_mut().zip(&self.place.words) {
            *to = from.load(Ordering::Relaxed);
        }
        // SAFETY: `own` has BYTES bytes.
        visitor.visit(unsafe { std::slice::from_raw_parts(self.own.as_ptr().cast(), BYTES) });
        1
    }

    fn wait(&mut self, _timeout: Duration, _error: &mut LastError) -> bool {
        true
    }
}
