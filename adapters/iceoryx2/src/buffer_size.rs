//! Computes how many messages fit into the trial's shared memory. This number limits the depth.

use iceoryx2::prelude::Config;
use middlemark_adapter::{Error, Result, Settings, Topic};

/// An upper bound of the bytes that a message's header and alignment need.
const HEADER_BYTES: usize = 128;
/// The number of chunks that a client with one request in progress needs: three for requests, and six for its server's
/// replies.
const CHUNKS_OF_A_CALL: usize = 9;
/// Limits of a keep-all buffer, which would otherwise fill the machine's memory.
const KEEP_ALL_MESSAGES: usize = 8192;
const KEEP_ALL_BYTES: usize = 256 << 20;
const KEEP_ALL_LEAST: usize = 4;

/// The size of a receiver's buffer. All workers of a trial must have the same size, because iceoryx2 would otherwise
/// refuse to open the service. So the size follows from the settings and the size of the file system, not from the free
/// space.
pub struct BufferSize {
    /// The number of messages of each sender for which the buffer has room.
    pub messages: usize,
    /// True if `messages` is less than the requested depth.
    pub bounded: bool,
}

impl BufferSize {
    pub fn of(settings: &Settings) -> Result<Self> {
        if settings.shm_bytes == 0 {
            let advice = "mount a tmpfs on /dev/shm, where iceoryx2 keeps its messages";
            return Err(Error::new("iceoryx2: /dev/shm cannot be read", advice));
        }
        let chunk = settings.message_bytes + HEADER_BYTES;
        let (mut calls, mut writers, mut pairs) = (0, 0, 0);
        for topic in settings.endpoints.iter() {
            let (publishers, subscribers) = (topic.publishers as usize, topic.subscribers as usize);
            if topic.service {
                calls += publishers;
            } else {
                writers += publishers;
                pairs += publishers * subscribers;
            }
        }
        // For each subscriber, a publisher's segment has chunks for the messages in the subscriber's buffer, and one
        // for the message that it visits. One more chunk is for the message that the publisher writes.
        let fitting = |bytes: usize| ((bytes / chunk).saturating_sub(writers) / pairs.max(1)).saturating_sub(1);
        let most = fitting(settings.shm_bytes / 2).max(1);
        let wanted = match settings.depth() {
            Some(depth) => depth as usize,
            None if settings.is_default_configuration() => {
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

    /// Returns the size of the buffer of one topic, which may have a lower depth than other topics.
    pub fn of_topic(&self, topic: &Topic) -> usize {
        topic.depth().map_or(self.messages, |depth| self.messages.min(depth as usize))
    }
}
