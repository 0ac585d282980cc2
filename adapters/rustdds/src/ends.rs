//! The publisher and the subscriber of a topic.

use std::cell::RefCell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

use middlemark_adapter::{Buffer, LastError, Published, Topic, Visitor};
use rustdds::dds::WriteError;
use rustdds::mio1::{Events, Interest, Poll, Token};
use rustdds::{RTPSEntity, WriteOptions, WriteOptionsBuilder};

use crate::octets::{decoder, Reader, Writer, Written};
use crate::peers::Peers;

pub struct Publisher {
    writer: Writer,
    options: WriteOptions,
    memory: Arc<Buffer>,
    length: usize,
    peers: Arc<Peers>,
}

impl Publisher {
    pub fn of(writer: Writer, topic: &Topic, may_block: bool, peers: Arc<Peers>) -> Self {
        let options = WriteOptionsBuilder::new().best_effort_may_block(may_block).build();
        let memory = Arc::new(Buffer::of(topic.message_bytes));
        Self { writer, options, memory, length: topic.message_bytes, peers }
    }
}

impl middlemark_adapter::Publisher for Publisher {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.length = bytes;
        // get_mut() succeeds, because the memory's only other owner was the previous message, which RustDDS has
        // serialized and dropped.
        let memory = Arc::get_mut(&mut self.memory)?;
        let whole = memory.message().len();
        memory.loan(whole)?.get_mut(..bytes)
    }

    fn publish(&mut self, error: &mut LastError) -> Published {
        let message = Written { memory: self.memory.clone(), length: self.length };
        match self.writer.write_with_options(message, self.options.clone()) {
            Ok(_) => Published::Ok,
            Err(WriteError::WouldBlock { .. }) => Published::TimedOut,
            Err(why) => {
                error.note(format_args!("write: {why}"));
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        self.peers.count(self.writer.guid())
    }
}

/// Waits for the socket by which RustDDS reports that a reader has messages.
struct Bell {
    poll: Poll,
    events: Events,
}

impl Bell {
    fn of(reader: &mut Reader) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(reader, Token(0), Interest::READABLE)?;
        Ok(Self { poll, events: Events::with_capacity(4) })
    }
}

pub struct Subscriber {
    reader: Reader,
    /// `Some` only if the reception is `block`.
    bell: Option<Bell>,
    /// True if the last take() stopped at its bound. The socket does not report the messages that may be left.
    more: bool,
    memory: RefCell<Vec<u8>>,
    peers: Arc<Peers>,
}

impl Subscriber {
    pub fn of(mut reader: Reader, topic: &Topic, blocks: bool, peers: Arc<Peers>) -> io::Result<Self> {
        let bell = if blocks { Some(Bell::of(&mut reader)?) } else { None };
        Ok(Self { reader, bell, more: false, memory: RefCell::new(Vec::with_capacity(topic.message_bytes)), peers })
    }
}

impl middlemark_adapter::Subscriber for Subscriber {
    const MOST_PER_TAKE: usize = 64;

    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
        if self.bell.is_some() {
            self.reader.drain_read_notifications();
        }
        for visits in 0..Self::MOST_PER_TAKE {
            // RustDDS decodes under a lock that its own thread also takes for each message. A visitor that publishes
            // would wait for that thread. So the decoder only copies the octets, and the visit follows when the lock is
            // released.
            match self.reader.try_take_one_with(decoder(&self.memory)) {
                Ok(Some(_)) => visitor.visit(&self.memory.borrow()),
                Ok(None) => {
                    self.more = false;
                    return visits;
                }
                Err(why) => {
                    error.note(format_args!("take: {why}"));
                    self.more = true;
                    return visits;
                }
            }
        }
        self.more = true;
        Self::MOST_PER_TAKE
    }

    fn wait(&mut self, timeout: Duration, error: &mut LastError) -> bool {
        let Some(bell) = &mut self.bell else {
            return true;
        };
        if self.more {
            return true;
        }
        match bell.poll.poll(&mut bell.events, Some(timeout)) {
            Ok(()) => !bell.events.is_empty(),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => false,
            Err(why) => {
                error.note(format_args!("poll: {why}"));
                false
            }
        }
    }

    fn publishers_found(&mut self) -> Option<usize> {
        Some(self.peers.count(self.reader.guid()))
    }
}
