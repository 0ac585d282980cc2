//! Memory in which publishers write messages if the middleware lends none.

use std::mem::MaybeUninit;

/// The memory that a publisher's `loan` returns and its `publish` sends.
pub struct Buffer(Box<[u8]>);

impl Buffer {
    pub fn of(bytes: usize) -> Self {
        Self(vec![0; bytes].into())
    }

    /// Returns `None` if `bytes` is not the size of the buffer.
    pub fn loan(&mut self, bytes: usize) -> Option<&mut [MaybeUninit<u8>]> {
        // SAFETY: every byte is initialised, and a caller of loan() writes initialised bytes only.
        (bytes == self.0.len()).then(|| unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), bytes) })
    }

    pub fn message(&self) -> &[u8] {
        &self.0
    }
}
