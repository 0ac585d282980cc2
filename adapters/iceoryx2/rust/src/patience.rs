//! Back-pressure that ends: iceoryx2 retries without a limit of time, but asks a handler before each retry.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iceoryx2::port::{BackpressureAction, BackpressureInfo};

/// One deadline for all receivers of a message: the clock is read only once a receiver is found to be full.
#[derive(Clone)]
pub struct Patience {
    opened: Instant,
    timeout_ns: u64,
    /// In ns since `opened`; 0: nobody has made this message wait.
    until_ns: Arc<AtomicU64>,
}

impl Patience {
    pub fn new(timeout: Duration) -> Self {
        Self {
            opened: Instant::now(),
            timeout_ns: timeout.as_nanos() as u64,
            until_ns: Arc::new(AtomicU64::new(0)),
        }
    }

    /// A new message.
    pub fn renew(&self) {
        self.until_ns.store(0, Relaxed);
    }

    pub fn handler(&self) -> impl Fn(&BackpressureInfo) -> BackpressureAction + Send + 'static {
        let patience = self.clone();
        move |_| patience.decide()
    }

    fn decide(&self) -> BackpressureAction {
        let now_ns = self.opened.elapsed().as_nanos() as u64;
        let mut until_ns = self.until_ns.load(Relaxed);
        if until_ns == 0 {
            until_ns = now_ns + self.timeout_ns;
            self.until_ns.store(until_ns, Relaxed);
        }
        if now_ns < until_ns {
            BackpressureAction::Retry
        } else {
            BackpressureAction::DiscardDataAndFail
        }
    }
}
