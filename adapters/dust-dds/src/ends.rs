//! Publishers and subscribers of a topic.

use std::mem::MaybeUninit;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::time::Duration;

use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::infrastructure::error::{DdsError, DdsResult};
use dust_dds::infrastructure::sample_info::{ANY_INSTANCE_STATE, ANY_SAMPLE_STATE, ANY_VIEW_STATE};
use dust_dds::infrastructure::status::StatusKind;
use dust_dds::infrastructure::type_support::DdsType;
use dust_dds::publication::data_writer::DataWriter;
use dust_dds::subscription::data_reader::DataReader;
use dust_dds::subscription::data_reader_listener::DataReaderListener;
use middlemark_adapter::{LastError, Published, Topic, Visitor};

/// The type of every topic. Dust DDS (de)serialises a sequence of octets in one step.
#[derive(DdsType)]
pub struct Octets {
    pub data: Vec<u8>,
}

pub struct Publisher {
    writer: DataWriter<Octets>,
    /// A new buffer for each message, because write() takes ownership of the buffer.
    message: Vec<u8>,
    length: usize,
}

impl Publisher {
    pub fn of(writer: DataWriter<Octets>, topic: &Topic) -> Self {
        Self { writer, message: Vec::with_capacity(topic.message_bytes), length: topic.message_bytes }
    }
}

impl middlemark_adapter::Publisher for Publisher {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.length = bytes;
        self.message.reserve_exact(bytes);
        self.message.spare_capacity_mut().get_mut(..bytes)
    }

    fn publish(&mut self, error: &mut LastError) -> Published {
        // SAFETY: loan() has reserved `length` bytes, and the caller has written all of them.
        unsafe { self.message.set_len(self.length) };
        match self.writer.write(Octets { data: std::mem::take(&mut self.message) }, None) {
            Ok(()) => Published::Ok,
            Err(DdsError::Timeout) => Published::TimedOut,
            Err(why) => {
                error.note(format_args!("write: {why:?}"));
                Published::Failed
            }
        }
    }

    fn matched(&mut self) -> usize {
        self.writer.get_publication_matched_status().map_or(0, |status| status.current_count.max(0) as usize)
    }
}

/// A listener that wakes the subscriber when a message has arrived. It runs on Dust DDS's thread. A WaitSet is not
/// used, because it can lose messages when it times out (README.md, Traps).
pub struct Bell(SyncSender<()>);

impl DataReaderListener<Octets> for Bell {
    async fn on_data_available(&mut self, _reader: DataReaderAsync<Octets>) {
        let _ = self.0.try_send(()); // full: the subscriber is already notified
    }
}

pub struct Subscriber {
    reader: DataReader<Octets>,
    rings: Receiver<()>,
    /// True if the last take() may have left messages, for which the listener is not called again.
    more: bool,
}

impl Subscriber {
    pub fn of(reader: DataReader<Octets>) -> DdsResult<Self> {
        let (bell, rings) = sync_channel(1);
        reader.set_listener(Some(Bell(bell)), &[StatusKind::DataAvailable])?;
        Ok(Self { reader, rings, more: false })
    }
}

impl middlemark_adapter::Subscriber for Subscriber {
    const MOST_PER_TAKE: usize = 64;

    fn take(&mut self, visitor: Visitor<'_>, error: &mut LastError) -> usize {
        let most = Self::MOST_PER_TAKE as i32;
        let samples = match self.reader.take(most, ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE) {
            Ok(samples) => samples,
            Err(DdsError::NoData) => Vec::new(),
            Err(why) => {
                error.note(format_args!("take: {why:?}"));
                Vec::new()
            }
        };
        self.more = samples.len() == Self::MOST_PER_TAKE;
        let mut visits = 0;
        for octets in samples.into_iter().filter_map(|sample| sample.data) {
            visitor.visit(&octets.data);
            visits += 1;
        }
        visits
    }

    fn wait(&mut self, timeout: Duration, _error: &mut LastError) -> bool {
        self.more || self.rings.recv_timeout(timeout).is_ok()
    }

    fn publishers_found(&mut self) -> Option<usize> {
        let status = self.reader.get_subscription_matched_status();
        Some(status.map_or(0, |status| status.current_count.max(0) as usize))
    }
}
