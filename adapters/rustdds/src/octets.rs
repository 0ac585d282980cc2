//! The type of every topic, `struct middlemark::Octets { sequence<octet> data; };`, which RustDDS's own CDR serializer encodes.
//! `serialize_bytes` and `deserialize_bytes` move all octets at once; a `Vec<u8>` would be moved octet by octet.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use middlemark_adapter::Buffer;
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::serialization::{CDRDeserializerAdapter, CDRSerializerAdapter, CdrDeserializeSeedDecoder};
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use serde::{Serialize, Serializer};

pub const TYPE_NAME: &str = "middlemark::Octets";

pub type Writer = DataWriter<Written, CDRSerializerAdapter<Written>>;
/// A reader whose samples have the type `()`: the decoder has already copied the octets.
pub type Reader = SimpleDataReader<(), CDRDeserializerAdapter<()>>;

/// A message to write: the first `length` bytes of the publisher's memory. RustDDS serializes it before write() returns.
pub struct Written {
    pub memory: Arc<Buffer>,
    pub length: usize,
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.memory.message()[..self.length])
    }
}

/// Deserializes each sample into the same memory.
#[derive(Clone, Copy)]
pub struct Intake<'a>(&'a RefCell<Vec<u8>>);

pub fn decoder(memory: &RefCell<Vec<u8>>) -> CdrDeserializeSeedDecoder<Intake<'_>, PhantomData<()>> {
    CdrDeserializeSeedDecoder::new(Intake(memory), PhantomData)
}

impl<'de> DeserializeSeed<'de> for Intake<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Intake<'_> {
    type Value = ();
    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("octets")
    }
    fn visit_bytes<E>(self, octets: &[u8]) -> Result<(), E> {
        let mut memory = self.0.borrow_mut();
        memory.clear();
        memory.extend_from_slice(octets);
        Ok(())
    }
}
