//! Memory to write messages in, for publishers whose middleware has none to lend.

use std::mem::MaybeUninit;

/// `loan` gives it, `publish` hands it over.
pub struct Buffer(Box<[u8]>);

impl Buffer {
    pub fn of(bytes: usize) -> Self {
        Self(vec![0; bytes].into())
    }

    /// `None`: it is of another size.
    pub fn loan(&mut self, bytes: usize) -> Option<&mut [MaybeUninit<u8>]> {
        // SAFETY: every byte has a value now, and the caller of a loan writes bytes.
        (bytes == self.0.len()).then(|| unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), bytes) })
    }

    pub fn message(&self) -> &[u8] {
        &self.0
    }
}
