//! What senders and receivers have in common behind the C interface.

use std::ffi::c_void;
use std::time::Duration;

use crate::failure::Failure;

#[repr(C)]
pub enum Published {
    Ok,
    TimedOut,
    Failed,
}

pub trait Sends {
    /// Memory for the next message; null: there is none.
    fn loan(&mut self) -> *mut u8;
    fn publish(&mut self) -> Published;
    fn matched(&mut self) -> usize;
    fn failure(&self) -> &Failure;
}

pub trait Receives {
    /// Visits at most `most` messages and never blocks.
    fn take(&self, most: usize, visitor: &Visitor) -> usize;
    fn wait(&self, timeout: Duration) -> bool;
    fn failure(&self) -> &Failure;
}

/// Who looks at messages, on the other side of the C interface. It does not unwind.
pub struct Visitor {
    pub object: *mut c_void,
    pub function: unsafe extern "C" fn(object: *mut c_void, bytes: *const u8, count: usize),
}

impl Visitor {
    pub fn visit(&self, message: &[u8]) {
        // SAFETY: the caller of take() keeps both alive during the call.
        unsafe { (self.function)(self.object, message.as_ptr(), message.len()) }
    }
}
