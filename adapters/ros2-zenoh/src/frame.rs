//! The bytes of a message over rmw_zenoh_cpp: a CDR message as payload, and an attachment of 33 bytes.

use std::time::{SystemTime, UNIX_EPOCH};

use middlemark_adapter::{MessageType, Topic};
use twox_hash::XxHash3_128;
use zenoh::bytes::ZBytes;
use zenoh::query::Query;

/// The encapsulation of CDR: little-endian, no options.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];
/// Bytes of the encapsulation, of the length of `layout.dim`, of `layout.data_offset` and of the length of `data`.
const MULTI_ARRAY: usize = 16;
/// Bytes of the encapsulation and of the length of `data`.
const CALL: usize = 8;

type Gid = [u8; 16];

/// The bytes around the messages of an endpoint.
pub struct Frame {
    /// Bytes before the octets of a message; 0 if the message is the CDR of a typed message.
    bytes: usize,
    /// The number of the last message or request.
    sequence: i64,
    gid: Gid,
}

impl Frame {
    pub fn reading(topic: &Topic) -> Self {
        let bytes = match topic.content {
            _ if topic.service => CALL,
            MessageType::Octets => MULTI_ARRAY,
            _ => 0,
        };
        Self { bytes, sequence: 0, gid: Gid::default() }
    }

    /// `token`: the liveliness token of the publisher or client.
    pub fn writing(topic: &Topic, token: &str) -> Self {
        Self { gid: gid_of(token), ..Self::reading(topic) }
    }

    /// Returns the number of bytes before each message.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes before a message of this size; `bytes()` of them are used.
    pub fn head(&self, message_bytes: usize) -> [u8; MULTI_ARRAY] {
        let mut head = [0; MULTI_ARRAY];
        if self.bytes != 0 {
            head[..4].copy_from_slice(&ENCAPSULATION);
            head[self.bytes - 4..self.bytes].copy_from_slice(&(message_bytes as u32).to_le_bytes());
        }
        head
    }

    /// Returns the attachment of the next message or request.
    pub fn attachment(&mut self) -> Option<ZBytes> {
        self.sequence += 1;
        Some(Attachment { sequence: self.sequence, stamp_ns: now_ns(), gid: self.gid }.bytes().into())
    }

    /// Returns the message in a payload; `None` if the payload or its attachment is in another format.
    pub fn message<'a>(&self, payload: &'a [u8], attachment: Option<&ZBytes>) -> Option<&'a [u8]> {
        Attachment::read(attachment?)?;
        if self.bytes == 0 {
            return Some(payload);
        }
        let (head, octets) = payload.split_at_checked(self.bytes)?;
        let length = u32::from_le_bytes(head[self.bytes - 4..].try_into().ok()?);
        let message = octets.get(..length as usize)?;
        (self.head(message.len())[..self.bytes] == *head).then_some(message)
    }
}

/// Returns the attachment of the reply to a request; `None` if the request has none.
pub fn attachment_of_reply(request: &Query) -> Option<ZBytes> {
    let of_request = Attachment::read(request.attachment()?)?;
    Some(Attachment { stamp_ns: now_ns(), ..of_request }.bytes().into())
}

/// Returns the identifier of an endpoint: the hash of its token.
fn gid_of(token: &str) -> Gid {
    XxHash3_128::oneshot(token.as_bytes()).to_le_bytes()
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// The attachment of a message, request or reply. A reply has the sequence number and the gid of its request.
#[derive(Debug, PartialEq)]
struct Attachment {
    sequence: i64,
    /// ns since 1970
    stamp_ns: i64,
    gid: Gid,
}

impl Attachment {
    const BYTES: usize = 33;

    fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stamp_ns.to_le_bytes());
        bytes[16] = self.gid.len() as u8;
        bytes[17..].copy_from_slice(&self.gid);
        bytes
    }

    fn read(attachment: &ZBytes) -> Option<Self> {
        let bytes: [u8; Self::BYTES] = attachment.to_bytes().as_ref().try_into().ok()?;
        let number = |at: usize| Some(i64::from_le_bytes(bytes[at..at + 8].try_into().ok()?));
        let gid: Gid = bytes[17..].try_into().ok()?;
        (bytes[16] as usize == gid.len()).then_some(Self { sequence: number(0)?, stamp_ns: number(8)?, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(content: MessageType, service: bool) -> Topic<'static> {
        // SAFETY: all members are numbers, enumerations with a value 0, or empty lists.
        let mut topic: Topic = unsafe { std::mem::zeroed() };
        (topic.content, topic.service) = (content, service);
        topic
    }

    fn sent(frame: &Frame, message: &[u8]) -> Vec<u8> {
        [&frame.head(message.len())[..frame.bytes()], message].concat()
    }

    #[test]
    fn an_attachment_is_a_number_a_time_and_the_length_and_bytes_of_a_gid() {
        let gid = std::array::from_fn(|at| at as u8);
        let attachment = Attachment { sequence: 258, stamp_ns: 1_700_000_000_123_456_789, gid };
        let mut expected = vec![2, 1, 0, 0, 0, 0, 0, 0, 0x15, 0xcd, 0x85, 0x3d, 0xfe, 0x9c, 0x97, 0x17, 16];
        expected.extend(0..16);
        assert_eq!(attachment.bytes(), *expected);
        assert_eq!(Attachment::read(&attachment.bytes().into()), Some(attachment));
    }

    #[test]
    fn an_attachment_with_another_length_is_refused() {
        let mut bytes = Attachment { sequence: 1, stamp_ns: 2, gid: Gid::default() }.bytes();
        assert_eq!(Attachment::read(&bytes[..32].to_vec().into()), None);
        bytes[16] = 15;
        assert_eq!(Attachment::read(&bytes.into()), None);
    }

    #[test]
    fn a_gid_is_the_hash_of_the_token() {
        let token =
            "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/\
                     RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,";
        let of_xxhash_in_c = 0x1c7d_9017_7a6d_d80c_ffd9_dcea_310f_17ac_u128;
        assert_eq!(gid_of(token), of_xxhash_in_c.to_le_bytes());
    }

    #[test]
    fn octets_are_the_data_of_a_multi_array() {
        let frame = Frame::reading(&topic(MessageType::Octets, false));
        assert_eq!(sent(&frame, b"abc"), b"\0\x01\0\0\0\0\0\0\0\0\0\0\x03\0\0\0abc");
    }

    #[test]
    fn a_call_has_its_data_only_and_a_typed_message_is_sent_as_it_is() {
        assert_eq!(sent(&Frame::reading(&topic(MessageType::Octets, true)), b"abc"), b"\0\x01\0\0\x03\0\0\0abc");
        assert_eq!(sent(&Frame::reading(&topic(MessageType::Imu, false)), b"abc"), b"abc");
    }

    #[test]
    fn a_message_is_read_back_and_other_formats_are_refused() {
        let mut frame = Frame::writing(&topic(MessageType::Octets, false), "token");
        let (payload, attachment) = (sent(&frame, b"abc"), frame.attachment());
        assert_eq!(frame.message(&payload, attachment.as_ref()), Some(&b"abc"[..]));
        assert_eq!(frame.message(&[&payload[..], b"pad"].concat(), attachment.as_ref()), Some(&b"abc"[..]));
        assert_eq!(frame.message(&payload, None), None);
        assert_eq!(frame.message(&payload[..payload.len() - 1], attachment.as_ref()), None);
        assert_eq!(frame.message(&payload[..7], attachment.as_ref()), None);
        for at in [1, 4] {
            let mut damaged = payload.clone(); // big-endian; a dimension
            damaged[at] ^= 1;
            assert_eq!(frame.message(&damaged, attachment.as_ref()), None);
        }
    }

    #[test]
    fn the_sequence_numbers_of_an_endpoint_begin_with_1() {
        let mut frame = Frame::writing(&topic(MessageType::Octets, false), "token");
        for sequence in 1..=3 {
            let attachment = Attachment::read(&frame.attachment().unwrap()).unwrap();
            assert_eq!((attachment.sequence, attachment.gid), (sequence, gid_of("token")));
            assert!(attachment.stamp_ns > 1_700_000_000_000_000_000);
        }
    }
}
