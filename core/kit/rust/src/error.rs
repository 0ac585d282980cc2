//! An [`Error`] for failures before the start, and a [`LastError`] for failures after it.

use std::fmt;

/// A failure before the start: `text` says what failed and where, `advice` names the next step. `?` and `into()` convert
/// every error of the standard library or of the middleware, and every text.
#[derive(Debug)]
pub struct Error {
    pub text: String,
    pub advice: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { text: text.into(), advice: advice.into() }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(error.into().to_string(), "")
    }
}

const CAPACITY: usize = 256;

/// The middleware's message about the last failure. Storing it allocates nothing; texts are cut off after 256 bytes.
/// The bridge keeps one for each publisher and subscriber.
pub struct LastError {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl LastError {
    pub(crate) const fn none() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    /// Replaces the text: `error.note(format_args!("send: {why}"))`.
    #[cold]
    pub fn note(&mut self, words: fmt::Arguments<'_>) {
        self.length = 0;
        let _ = fmt::Write::write_fmt(self, words);
    }

    /// Returns the text; empty if nothing failed.
    pub(crate) fn words(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.length]).into_owned()
    }
}

impl fmt::Write for LastError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = text.len().min(CAPACITY - self.length);
        self.bytes[self.length..self.length + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_of_the_last_failure_and_cut_off_at_the_capacity() {
        let mut error = LastError::none();
        assert_eq!(error.words(), "");
        error.note(format_args!("the first"));
        error.note(format_args!("the {}", "second"));
        assert_eq!(error.words(), "the second");
        error.note(format_args!("{}", "x".repeat(2 * CAPACITY)));
        assert_eq!(error.words(), "x".repeat(CAPACITY));
    }
}
