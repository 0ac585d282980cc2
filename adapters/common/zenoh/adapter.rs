//! The adapter: opens a session, and makes the ends of topics and services.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use middlemark_adapter::{
    Adapter, Companion, Description, OwnSettings, Reliability, RequestReply, Result, Security, Settings, Topic,
};
use zenoh::query::{Query, Reply};
use zenoh::sample::Sample;
use zenoh::Wait;

use super::native::Native;
use super::receiver::{Current, Receiver};
use super::sender::Sender;
use super::session::{self, Session};
use super::{heard, router};
use crate::wire;

pub struct Zenoh {
    session: Arc<Session>,
}

/// The number of sessions that are open in this process; more than one only in a crowd.
static OPEN: AtomicUsize = AtomicUsize::new(0);

impl Adapter for Zenoh {
    type Publisher = Sender;
    type Subscriber = Receiver<Sample>;

    fn describe() -> Description {
        crate::describe()
    }

    fn check(settings: &'static Settings) -> Result<()> {
        wire::check(settings)?;
        session::check(settings)
    }

    fn companions(settings: &'static Settings) -> Result<Vec<Companion>> {
        let users = router::users(settings, &Native::of(settings))?;
        users.map(|_| router::companion(settings)).into_iter().collect()
    }

    fn run_companion(file: &str) -> Result<()> {
        router::run(file)
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        if settings.security != Security::None {
            heard::listen();
        }
        // Installs a logger that logs nothing unless RUST_LOG is set. Without any logger, zenoh looks for one at every message.
        zenoh::init_log_from_env_or("off");
        let session = Arc::new(Session::open(settings)?);
        OPEN.fetch_add(1, Ordering::Relaxed);
        Ok(Self { session })
    }

    fn publisher(&mut self, topic: &Topic, index: u32) -> Result<Sender> {
        self.session.declared("a publisher of", topic, Sender::publisher(&self.session, topic, index))
    }

    fn subscriber(&mut self, topic: &Topic, index: u32) -> Result<Receiver<Sample>> {
        self.session.declared("a subscriber of", topic, Receiver::subscriber(&self.session, topic, index))
    }

    fn protected_by(&self) -> String {
        self.session.protection.as_ref().map_or_else(String::new, |it| it.words(&self.session.zenoh))
    }

    fn own_settings(&self) -> Option<OwnSettings> {
        Some(self.session.own_settings())
    }

    fn refusals(&self) -> String {
        heard::refusals()
    }

    fn notes(&self) -> Vec<String> {
        let about_files = self.session.own_configuration().into_iter().chain(self.session.introduced());
        let mut notes = about_files.collect::<Vec<_>>();
        if notes.is_empty() {
            notes.extend(self.about_the_transport());
        }
        notes
    }
}

impl Zenoh {
    fn about_the_transport(&self) -> Option<String> {
        let Session { settings, pool_bytes, .. } = *self.session;
        if settings.transport == "udp" {
            let reliable = settings.reliability == Reliability::Reliable;
            return match (settings.security, reliable) {
                (Security::None, true) => Some("zenoh's reliable UDP is QUIC without encryption".into()),
                (Security::None, false) | (_, true) => None,
                (_, false) => Some("encrypted datagrams use QUIC: compared with plain UDP they also cost QUIC".into()),
            };
        }
        let messages = pool_bytes / settings.message_bytes;
        if pool_bytes == 0 || messages >= 256 {
            return None;
        }
        Some(format!(
            "each process's pool of shared memory holds {messages} messages, and zenoh reuses memory only after 100 ms: \
             native.shm_pool_bytes makes the pool larger"
        ))
    }
}

impl RequestReply for Zenoh {
    type Requests = Sender;
    type Replies = Receiver<Reply>;
    type Answers = Sender;
    type Requested = Receiver<Query>;

    fn client(&mut self, service: &Topic, index: u32) -> Result<(Sender, Receiver<Reply>)> {
        let (callback, replies) = Receiver::replies(&self.session, service);
        let requests = Sender::client(&self.session, service, index, callback);
        Ok((self.session.declared("a client of", service, requests)?, replies))
    }

    fn server(&mut self, service: &Topic, index: u32) -> Result<(Sender, Receiver<Query>)> {
        let asked = Current::default();
        let requested = Receiver::server(&self.session, service, index, asked.clone());
        let requested = self.session.declared("the server of", service, requested)?;
        let answers = Sender::server(&self.session, service, asked);
        Ok((self.session.declared("the server of", service, answers)?, requested))
    }
}

impl Drop for Zenoh {
    /// Closes the session and waits at most 1 s for it. zenoh itself waits up to 10 s for a QUIC link whose peer closes
    /// at the same moment.
    ///
    /// The last one then sleeps, because zenoh's threads outlive its sessions, and zenoh does not report when the last
    /// thread is done. If a thread still handles a peer's disconnection while the process destroys its static objects,
    /// the process ends with SIGABRT (6 of 83 trials with three clients over shared memory).
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const LEAVING: Duration = Duration::from_millis(100);
        let session = self.session.clone();
        let (done, closed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = session.zenoh.close().wait();
            drop(session);
            let _ = done.send(());
        });
        let _ = closed.recv_timeout(PATIENCE);
        if OPEN.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::thread::sleep(LEAVING);
        }
    }
}
