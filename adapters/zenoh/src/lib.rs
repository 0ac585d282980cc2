//! An adapter for Eclipse zenoh. README.md lists the zenoh option that each setting sets.

mod alive;
mod applied;
mod endpoints;
mod heard;
mod protection;
mod receiver;
mod router;
mod sender;
mod session;

use std::sync::Arc;
use std::time::Duration;

use middlemark_adapter::{
    Adapter, Companion, Credential, Description, NativeType, OwnSettings, Reliability, RequestReply, Result, Security,
    Settings, Topic, Transport, Via, DEFAULT_CONFIGURATION,
};
use zenoh::query::{Query, Reply};
use zenoh::sample::Sample;
use zenoh::Wait;

use receiver::{Current, Receiver};
use sender::Sender;
use session::Session;

middlemark_adapter::worker!(Zenoh, request_reply);

middlemark_adapter::native_settings! {
    pub struct Native {
        /// block: publish waits for a full link; drop: the message is dropped
        congestion: Option<bool> = None => [
            choices: vec!["drop", "block"], otherwise: "block if reliable, drop if best-effort",
        ],
        /// true: each message is sent at once; false (zenoh's default): messages share a batch
        express: Option<bool> = None => [otherwise: "true for ping-pong and request/reply, false for streams",],
        /// zenoh's priority of every message
        priority: u8 = 4 => [
            choices: vec!["real-time", "interactive-high", "interactive-low", "data-high", "data", "data-low", "background"],
        ],
        /// bytes of the largest batch; a larger message is sent in fragments
        batch_size: Option<u32> = None => [least: Some(256), most: Some(65_535), otherwise: "65535",],
        /// ring: a full channel drops its oldest message; fifo: a full channel blocks zenoh's thread, which is back-pressure
        channel: Option<bool> = None => [
            choices: vec!["fifo", "ring"], otherwise: "ring with a depth, fifo with keep-all",
        ],
        /// messages that a FIFO channel holds under keep-all; the default is zenoh's
        fifo_capacity: usize = 256 => [least: Some(1), most: Some(10_000_000),],
        /// shared memory that each process sends from
        shm_pool_bytes: Option<usize> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 40), transports: vec!["shm"],
            otherwise: "see README",
        ],
        /// smallest message in bytes that is copied into shared memory if it is not loaned; zenoh's default is 3072
        shm_threshold: usize = 1 => [
            kind: NativeType::Bytes, least: Some(1), most: Some(1 << 40), transports: vec!["shm"],
        ],
        /// your own configuration in JSON5 or YAML: see --config
        "config" file: Option<String> = None => [kind: NativeType::File,],
        /// with via router, a session is a client with one link, to the router, or a peer that also listens
        "router_users" joins: Option<bool> = None => [
            choices: vec!["client", "peer"], otherwise: "client, or the mode in --config",
        ],
        /// any path of zenoh's configuration, with '/' between its parts, as JSON5; overrides all other settings
        "config.*" config: Vec<(String, String)> = Vec::new() => [],
    }
}

struct Zenoh {
    session: Arc<Session>,
}

impl Adapter for Zenoh {
    type Publisher = Sender;
    type Subscriber = Receiver<Sample>;

    fn describe() -> Description {
        let transport = |name, carrier| Transport {
            name,
            carrier,
            processes: vec![2],
            varying_sizes: true,
            via: vec![Via::Direct, Via::Router],
            max_depth: Some(100_000), // a ring allocates all its slots at the start, about 300 bytes each
            ..Transport::default()
        };
        let protected = |name, carrier| Transport {
            security: vec![Security::None, Security::Encrypted],
            security_why: "TLS always encrypts, and a password (usrpwd) authenticates only the peer that connects",
            permissions: true,
            ..transport(name, carrier)
        };
        let version = zenoh::GIT_VERSION.trim_start_matches('v');
        Description {
            name: "zenoh",
            title: "Eclipse zenoh",
            version: version.split('-').next().unwrap_or(version),
            licence: "EPL-2.0 OR Apache-2.0",
            own_threads: true,
            residue: vec!["/dev/shm/*.zenoh"],
            native: Native::table(),
            transports: vec![
                Transport { wire: "zenoh", ..protected("tcp", "tcp") },
                protected("udp", "udp"),
                Transport { security_why: "zenoh has TLS over TCP and QUIC only", ..transport("unix", "unix-socket") },
                Transport {
                    segments: vec!["*.zenoh"],
                    loan: vec![false, true],
                    hands_over: vec![true],
                    varying_sizes: false, // memory is allocated from the pool before the message's length is known
                    security_why: "zenoh encrypts links, not shared memory",
                    via: vec![Via::Direct],
                    via_why: "shared memory joins two sessions that have a link of their own",
                    ..transport("shm", "shared-memory")
                },
                Transport {
                    processes: vec![1],
                    hands_over: vec![false], // even without a loan, the subscriber gets the publisher's buffer
                    security_why: "messages within a process are not encrypted",
                    via: vec![Via::Direct],
                    via_why: "messages within one session do not pass through a router",
                    ..transport("intraprocess", "process-memory")
                },
                Transport {
                    segments: vec!["*.zenoh"],
                    processes: vec![1, 2],
                    security_why: "zenoh's default configuration protects nothing",
                    ..transport(DEFAULT_CONFIGURATION, "any")
                },
            ],
            credentials: vec![Credential::X509],
            ..Description::default()
        }
    }

    fn check(settings: &'static Settings) -> Result<()> {
        session::check(settings)
    }

    fn companions(settings: &'static Settings) -> Result<Vec<Companion>> {
        match settings.via {
            Via::Router => Ok(vec![router::companion(settings)?]),
            _ => Ok(Vec::new()),
        }
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
        Ok(Self { session: Arc::new(Session::open(settings)?) })
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
    /// Then sleeps, because zenoh's threads outlive its sessions, and zenoh does not report when the last thread is done. If a
    /// thread still handles a peer's disconnection while the process destroys its static objects, the process ends with SIGABRT
    /// (6 of 83 trials with three clients over shared memory).
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
        std::thread::sleep(LEAVING);
    }
}
