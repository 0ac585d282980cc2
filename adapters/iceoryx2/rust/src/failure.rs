//! The middleware's own words for what failed last, kept without allocating.

use std::cell::RefCell;
use std::fmt::{Debug, Write};

const CAPACITY: usize = 256;

struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Write for Text {
    /// What does not fit is cut off.
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let fits = text.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        Ok(())
    }
}

pub struct Failure(RefCell<Text>);

impl Failure {
    pub const fn none() -> Self {
        Self(RefCell::new(Text {
            bytes: [0; CAPACITY],
            length: 0,
        }))
    }

    #[cold]
    pub fn note(&self, what: &str, error: &dyn Debug) {
        let mut text = self.0.borrow_mut();
        text.length = 0;
        let _ = write!(text, "{what}: {error:?}");
    }

    /// Copies the text into `out` and returns its length.
    pub fn copy_to(&self, out: &mut [u8]) -> usize {
        let text = self.0.borrow();
        let fits = text.length.min(out.len());
        out[..fits].copy_from_slice(&text.bytes[..fits]);
        fits
    }
}
