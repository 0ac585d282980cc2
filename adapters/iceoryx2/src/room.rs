//! How much the trial's shared memory can hold, and what that leaves of the depth that was asked for.

use iceoryx2::prelude::Config;
use middlemark_adapter::{Error, Result, Settings, Topic};

/// What a message carries in front of it, and its alignment; more than it is.
const HEADER_BYTES: usize = 128;
/// A client's three requests and its server's six replies, at one request at a time.
const CHUNKS_OF_A_CALL: usize = 9;
/// Keep-all is as many messages as any reader could want to be behind, not the machine's memory.
const KEEP_ALL_MESSAGES: usize = 8192;
const KEEP_ALL_BYTES: usize = 256 << 20;
const KEEP_ALL_LEAST: usize = 4;

/// A receiver's buffer. The same in every worker of a trial, or the second to open a service would be refused: it follows from the
/// settings and the size of the file system, not from what is free in it.
pub struct Room {
    /// Messages that it holds of each sender.
    pub messages: usize,
    /// Those are fewer than the depth asks for.
    pub bounded: bool,
}

impl Room {
    pub fn of(settings: &Settings) -> Result<Self> {
        if settings.shm_bytes == 0 {
            let advice = "iceoryx2 keeps its messages there; mount a tmpfs on it";
            return Err(Error::new("iceoryx2: /dev/shm cannot be read", advice));
        }
        let chunk = settings.message_bytes + HEADER_BYTES;
        let (mut calls, mut writers, mut pairs) = (0, 0, 0);
        for each in settings.endpoints.iter() {
            let (publishers, subscribers) = (each.publishers as usize, each.subscribers as usize);
            if each.service {
                calls += publishers;
            } else {
                writers += publishers;
                pairs += publishers * subscribers;
            }
        }
        // A publisher's segment has a chunk for each message in the buffer of each of its subscribers, for one that each looks at, and
        // for one that it writes.
        let fitting = |bytes: usize| ((bytes / chunk).saturating_sub(writers) / pairs.max(1)).saturating_sub(1);
        let most = fitting(settings.shm_bytes / 2).max(1);
        let wanted = match settings.depth() {
            Some(depth) => depth as usize,
            None if settings.comes_as_it_is() => {
                Config::default().defaults.publish_subscribe.subscriber_max_buffer_size
            }
            None => KEEP_ALL_MESSAGES.min(KEEP_ALL_LEAST.max(fitting(KEEP_ALL_BYTES))),
        };
        let messages = wanted.min(most);
        let bytes = (pairs * (messages + 1) + writers + calls * CHUNKS_OF_A_CALL) * chunk;
        let what = format!("iceoryx2: shm: messages of {} bytes", settings.message_bytes);
        settings.shm_holds(bytes, &what, "smaller messages")?;
        Ok(Self { messages, bounded: messages < wanted })
    }

    /// Of the topic's own depth, where others' are deeper.
    pub fn of_topic(&self, topic: &Topic) -> usize {
        topic.depth().map_or(self.messages, |depth| self.messages.min(depth as usize))
    }
}
