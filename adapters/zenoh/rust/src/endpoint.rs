//! What C++ asks of one end of a topic or service. The layout is `zenoh_c.hpp`'s.

use std::ffi::{c_char, CStr};
use std::time::Duration;

use zenoh::qos::{CongestionControl, Priority, Reliability};

#[repr(C)]
pub struct Endpoint {
    topic: *const c_char,
    pub index: u32,
    pub bytes: usize,
    reliable: bool,
    block: bool,
    pub express: bool,
    priority: u8,
    /// The ring's or the FIFO's capacity in messages.
    pub capacity: usize,
    /// The oldest message goes when it is full; otherwise whoever delivers waits.
    pub ring: bool,
    pub listen: bool,
    write_timeout_ns: u64,
}

impl Endpoint {
    pub fn topic(&self) -> String {
        unsafe { CStr::from_ptr(self.topic) }
            .to_string_lossy()
            .into_owned()
    }

    pub fn reliability(&self) -> Reliability {
        if self.reliable {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        }
    }

    pub fn congestion(&self) -> CongestionControl {
        if self.block {
            CongestionControl::Block
        } else {
            CongestionControl::Drop
        }
    }

    pub fn priority(&self) -> Priority {
        Priority::try_from(self.priority).unwrap_or_default()
    }

    pub fn write_timeout(&self) -> Duration {
        Duration::from_nanos(self.write_timeout_ns)
    }
}
