//! Reads the logs of zenoh and rustls while the sessions of a protected trial connect: zenoh's functions report neither the
//! cipher suite of a link nor why a link was refused. The logs are no longer read once the sessions have connected.

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

/// Starts reading the logs; call before the session is opened. With RUST_LOG, zenoh's log goes to stderr instead.
pub fn listen() {
    if log::set_logger(&Rustls).is_ok() {
        log::set_max_level(log::LevelFilter::Debug);
    }
    if std::env::var_os("RUST_LOG").is_none() {
        let _ = tracing::subscriber::set_global_default(Zenoh);
    }
}

/// Returns the cipher suites of all links; call when the sessions have connected. Stops reading the logs.
pub fn suites() -> BTreeSet<String> {
    log::set_max_level(log::LevelFilter::Off);
    MET.store(true, Ordering::Relaxed);
    rebuild_interest_cache();
    SUITES.lock().unwrap().clone()
}

/// Returns the last reason for which a link was refused; empty: none.
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
        let said = record.args().to_string();
        let agreed = ["Using ciphersuite ", "decided upon suite "].iter().find_map(|begin| said.strip_prefix(begin));
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
        let tells = target.ends_with("::orchestrator") || (target.starts_with("zenoh_link") && level <= Level::WARN);
        tells && level <= Level::DEBUG && !MET.load(Ordering::Relaxed)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if MET.load(Ordering::Relaxed) { LevelFilter::OFF } else { LevelFilter::DEBUG })
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let connects = event.metadata().target().ends_with("::orchestrator");
        let said = &message.0;
        if !connects || said.starts_with("Unable to connect") {
            let mut last = REFUSAL.lock().unwrap();
            // A process that has ended refuses connections, which must not replace an earlier reason.
            if last.is_empty() || !said.contains("Connection refused") {
                *last = message.without_place().to_owned();
            }
        } else if said.starts_with("Successfully connected") {
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
    /// Removes the source location at the end of zenoh's messages, and a hint that is meant for another case.
    fn without_place(&self) -> &str {
        let said = self.0.split(" at /").next().unwrap_or_default();
        said.split(". Hint:").next().unwrap_or_default()
    }
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
