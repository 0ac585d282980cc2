//! In a trial with security, reads the logs of zenoh and rustls while the sessions connect. They contain the cipher
//! suite of each link, and the reason if a link was refused; zenoh's functions report neither. Once the sessions have
//! connected, the logs are not read.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use log::{Log, Record};
use tracing::callsite::rebuild_interest_cache;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

static MET: AtomicBool = AtomicBool::new(false);
static SUITES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static REFUSAL: Mutex<String> = Mutex::new(String::new());

/// Starts reading the logs. Call it before opening the session. If RUST_LOG is set, zenoh's log goes to stderr and is
/// not read.
pub fn listen() {
    if log::set_logger(&Rustls).is_ok() {
        log::set_max_level(log::LevelFilter::Debug);
    }
    if std::env::var_os("RUST_LOG").is_none() {
        let _ = tracing::subscriber::set_global_default(Zenoh);
    }
}

/// Stops reading the logs and returns the cipher suites of all links. Call it when the sessions have connected.
pub fn suites() -> BTreeSet<String> {
    log::set_max_level(log::LevelFilter::Off);
    MET.store(true, Ordering::Relaxed);
    rebuild_interest_cache();
    SUITES.lock().unwrap().clone()
}

/// Returns the reason why the last refused link was refused; empty if no link was refused.
pub fn refusals() -> String {
    REFUSAL.lock().unwrap().clone()
}

struct Rustls;

impl Log for Rustls {
    fn enabled(&self, about: &log::Metadata<'_>) -> bool {
        about.target().starts_with("rustls::")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        let agreed = ["Using ciphersuite ", "decided upon suite "].iter().find_map(|begin| text.strip_prefix(begin));
        if let Some(suite) = agreed {
            SUITES.lock().unwrap().insert(suite.to_owned());
        }
    }

    fn flush(&self) {}
}

struct Zenoh;

impl Subscriber for Zenoh {
    fn register_callsite(&self, about: &'static Metadata<'static>) -> Interest {
        if self.enabled(about) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    /// The connecting side logs its failures at level debug, the accepting side at level warn.
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        let (target, level) = (about.target(), *about.level());
        let about_links =
            target.ends_with("::orchestrator") || (target.starts_with("zenoh_link") && level <= Level::WARN);
        about_links && level <= Level::DEBUG && !MET.load(Ordering::Relaxed)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if MET.load(Ordering::Relaxed) { LevelFilter::OFF } else { LevelFilter::DEBUG })
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let connects = event.metadata().target().ends_with("::orchestrator");
        let text = &message.0;
        if !connects || text.starts_with("Unable to connect") {
            let mut last = REFUSAL.lock().unwrap();
            // "Connection refused" only means that a process has ended. It must not replace an earlier reason.
            if last.is_empty() || !text.contains("Connection refused") {
                *last = message.without_place().to_owned();
            }
        } else if text.starts_with("Successfully connected") {
            REFUSAL.lock().unwrap().clear();
        }
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

struct Message(String);

impl Message {
    /// Returns the message without the source location at its end and without zenoh's hint, which is useless to our
    /// user.
    fn without_place(&self) -> &str {
        let text = self.0.split(" at /").next().unwrap_or_default();
        text.split(". Hint:").next().unwrap_or_default()
    }
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
