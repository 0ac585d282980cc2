//! Eclipse zenoh behind Middlemark's contract. README.md says how each setting becomes zenoh's own.

mod alive;
mod endpoints;
mod heard;
mod protection;
mod receiver;
mod sender;
mod session;

use std::sync::Arc;
use std::time::Duration;

use middlemark_adapter::{
    Adapter, Credential, Description, NativeType, Reliability, RequestReply, Result, Security, Settings, Topic,
    Transport, AS_IT_COMES,
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
            choices: vec!["drop", "block"], otherwise: "block of reliable, drop of best-effort",
        ],
        /// true: each message leaves by itself; false (zenoh's own default): messages share a batch
        express: Option<bool> = None => [otherwise: "true of ping-pong and request/reply, false of streams",],
        /// zenoh's priority of every message
        priority: u8 = 4 => [
            choices: vec!["real-time", "interactive-high", "interactive-low", "data-high", "data", "data-low", "background"],
        ],
        /// bytes of the largest batch; a larger message goes in fragments
        batch_size: Option<u32> = None => [least: Some(256), most: Some(65_535), otherwise: "65535",],
        /// ring: a full channel loses its oldest message; fifo: it holds zenoh's thread up, which is back-pressure
        channel: Option<bool> = None => [
            choices: vec!["fifo", "ring"], otherwise: "ring with a depth, fifo of keep-all",
        ],
        /// messages that a FIFO channel holds under keep-all; the default is zenoh's
        fifo_capacity: usize = 256 => [least: Some(1), most: Some(10_000_000),],
        /// shared memory that each process sends from
        shm_pool_bytes: Option<usize> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 40), transports: vec!["shm"],
            otherwise: "see README",
        ],
        /// a message that is not loaned is copied into shared memory from so many bytes on; zenoh's own default is 3072
        shm_threshold: usize = 1 => [
            kind: NativeType::Bytes, least: Some(1), most: Some(1 << 40), transports: vec!["shm"],
        ],
        /// a configuration of your own in JSON5 or YAML: see --config
        "config" file: Option<String> = None => [kind: NativeType::File,],
        /// any path of zenoh's configuration, with '/' between its parts, as JSON5; it has the last word
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
            max_depth: Some(100_000), // a ring has all of its places from the start, some 300 bytes each
            ..Transport::default()
        };
        let protected = |name, carrier| Transport {
            security: vec![Security::None, Security::Encrypted],
            security_why: "TLS always encrypts, and a password (usrpwd) proves one end alone",
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
                protected("tcp", "tcp"),
                protected("udp", "udp"),
                Transport { security_why: "TLS goes over TCP and QUIC only", ..transport("unix", "unix-socket") },
                Transport {
                    segments: vec!["*.zenoh"],
                    loan: vec![false, true],
                    hands_over: vec![true],
                    varying_sizes: false, // its memory is taken from the pool before the length is known
                    security_why: "zenoh encrypts links, not shared memory",
                    ..transport("shm", "shared-memory")
                },
                Transport {
                    processes: vec![1],
                    hands_over: vec![false], // the buffer itself is moved to the subscriber
                    security_why: "what stays within a process is not encrypted",
                    ..transport("intraprocess", "process-memory")
                },
                Transport {
                    segments: vec!["*.zenoh"],
                    processes: vec![1, 2],
                    security_why: "as it comes it protects nothing",
                    ..transport(AS_IT_COMES, "any")
                },
            ],
            credentials: vec![Credential::X509],
            ..Description::default()
        }
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        if settings.security != Security::None {
            heard::listen();
        }
        // Where nobody listens to zenoh's log, every message asks for a listener again; so somebody does, and hears nothing unless
        // RUST_LOG says otherwise.
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

    fn refusals(&self) -> String {
        heard::refusals()
    }

    fn notes(&self) -> Vec<String> {
        let Session { settings, pool_bytes, .. } = *self.session;
        if self.session.native.file.is_some() {
            return vec![
                "config: laid over it are the mode (peer), multicast scouting (off), the endpoints and the transport"
                    .into(),
            ];
        }
        if settings.transport == "udp" {
            let reliable = settings.reliability == Reliability::Reliable;
            return match (settings.security, reliable) {
                (Security::None, true) => vec!["zenoh's reliable UDP is QUIC without encryption".into()],
                (Security::None, false) | (_, true) => Vec::new(),
                (_, false) => vec!["encrypted datagrams are QUIC's: against plain UDP they cost QUIC too".into()],
            };
        }
        let messages = pool_bytes / settings.message_bytes;
        if pool_bytes == 0 || messages >= 256 {
            return Vec::new();
        }
        vec![format!(
            "the shared memory that each process sends from holds {messages} messages; zenoh uses it again only 100 ms later: \
             native.shm_pool_bytes gives it more"
        )]
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
    /// zenoh waits up to 10 s for a QUIC link whose peer has left in the same moment; nobody needs what it waits for.
    ///
    /// Its threads outlive its sessions. One that still handles a peer's leaving when the process takes its static objects apart ends
    /// it with SIGABRT (6 of 83 trials of three clients over shared memory), and nothing tells when the last has done so.
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
