//! An adapter for Eclipse iceoryx2. README.md lists which settings of iceoryx2 each setting of a trial sets.

mod bell;
mod buffer_size;
mod ends;
mod service;
mod topics;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use iceoryx2::prelude::*;
use iceoryx2::service::Service;
use iceoryx2_bb_elementary::package_version::PackageVersion;
use middlemark_adapter::{
    Adapter, Code, Description, Error, OwnSettings, Pattern, Reception, RequestReply, Result, Settings, Topic,
    Transport, DEFAULT_CONFIGURATION,
};

use buffer_size::BufferSize;
use ends::{Either, Receiver, Sender};

middlemark_adapter::worker!(Iceoryx2, request_reply);

middlemark_adapter::native_settings! {
    pub struct Native {
        /// the library's variant of a service: ipc counts its references without atomics,
        /// ipc_threadsafe guards each port by a mutex
        service: bool = false => [choices: vec!["ipc", "ipc_threadsafe"],],
        /// alignment of payloads in bytes
        payload_alignment: Option<u8> = None => [
            choices: vec!["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096"],
            otherwise: "the library's",
        ],
    }
}

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The prefix of every file in /dev/shm.
const PREFIX: &str = "middlemark-iox2.";

/// The node of this process, and the data that all its ports share. Other iceoryx2 programs on the machine cannot see
/// this node.
pub struct Trial<V: Service> {
    node: Node<V>,
    buffer: BufferSize,
    native: Native,
    settings: &'static Settings,
    code: Code,
    _root: File,
}

/// The adapter, with a case for each variant of iceoryx2's service.
pub enum Iceoryx2 {
    Ipc(Trial<ipc::Service>),
    Threadsafe(Trial<ipc_threadsafe::Service>),
}

/// Creates a publisher or subscriber of the trial's variant.
macro_rules! either {
    ($trial:expr, $of:ident => $made:expr) => {
        match $trial {
            Iceoryx2::Ipc($of) => $made.map(Either::Ipc),
            Iceoryx2::Threadsafe($of) => $made.map(Either::Threadsafe),
        }
    };
}

/// Creates the sender and the receiver of a client or a server, of the trial's variant.
macro_rules! either_two {
    ($trial:expr, $of:ident => $made:expr) => {
        match $trial {
            Iceoryx2::Ipc($of) => $made.map(|(to, from)| (Either::Ipc(to), Either::Ipc(from))),
            Iceoryx2::Threadsafe($of) => $made.map(|(to, from)| (Either::Threadsafe(to), Either::Threadsafe(from))),
        }
    };
}

/// The type of a publisher or subscriber that may be of either variant.
macro_rules! of_both {
    ($end:ident, $($port:ident)::+) => {
        Either<
            $end<ipc::Service, $($port)::+<ipc::Service>>,
            $end<ipc_threadsafe::Service, $($port)::+<ipc_threadsafe::Service>>,
        >
    };
}

impl<V: Service> Trial<V> {
    fn open(settings: &'static Settings, scope: &str, buffer: BufferSize, native: Native) -> Result<Self> {
        let open = || -> Outcome<_> {
            let root = File::open(&*settings.scratch)?;
            let node = NodeBuilder::new()
                .name(&NodeName::new(scope)?)
                .config(&config(scope, &root)?)
                .signal_handling_mode(SignalHandlingMode::Disabled)
                .create::<V>()?;
            Ok((node, root))
        };
        let (node, root) = made("a node in", &settings.scratch, open())?;
        Ok(Self { node, buffer, native, settings, code: Code::default(), _root: root })
    }

    /// Returns true if receivers sleep. Senders then send a notification after each message.
    fn blocks(&self) -> bool {
        self.settings.reception == Reception::Block
    }

    /// Returns true if a full buffer drops its oldest message. Otherwise the sender waits or the newest message is
    /// refused.
    fn overflows(&self, topic: &Topic) -> bool {
        !topic.reliable() && topic.depth().is_some()
    }

    fn alignment(&self) -> Option<Alignment> {
        self.native.payload_alignment.and_then(|power| Alignment::new(1 << power))
    }
}

impl Adapter for Iceoryx2 {
    type Publisher = of_both!(Sender, topics::Samples);
    type Subscriber = of_both!(Receiver, topics::Inbox);

    fn describe() -> Description {
        let shared_memory = |name| Transport {
            name,
            carrier: "shared-memory",
            segments: vec![format!("{PREFIX}*.data").leak()],
            receive: vec![Reception::Poll, Reception::Block],
            loan: vec![false, true],
            hands_over: vec![true],
            max_depth: Some(1_000_000), // the largest depth that we tested; iceoryx2 has no limit
            ..Transport::default()
        };
        Description {
            name: "iceoryx2",
            title: "Eclipse iceoryx2",
            version: PackageVersion::get().to_string().leak(),
            licence: "Apache-2.0 OR MIT",
            transports: vec![shared_memory("shm"), shared_memory(DEFAULT_CONFIGURATION)],
            residue: vec![format!("/dev/shm/{PREFIX}{{scope}}_*").leak()],
            native: Native::table(),
            ..Description::default()
        }
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        // With a longer scope, the address of a listener's Unix socket would be too long.
        const LONGEST_SCOPE: usize = 28;
        let scope = &settings.scope;
        if scope.len() > LONGEST_SCOPE {
            let why = "iceoryx2 names Unix sockets after the scope";
            return Err(
                format!("iceoryx2: the scope {scope:?} is longer than {LONGEST_SCOPE} characters: {why}").into()
            );
        }
        let buffer = BufferSize::of(settings)?;
        set_log_level(LogLevel::Error);
        let native = Native::of(settings);
        Ok(match native.service {
            false => Self::Ipc(Trial::open(settings, scope, buffer, native)?),
            true => Self::Threadsafe(Trial::open(settings, scope, buffer, native)?),
        })
    }

    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Self::Publisher> {
        made("a publisher of", &topic.name, either!(self, trial => topics::publisher(trial, topic)))
    }

    fn subscriber(&mut self, topic: &Topic, _index: u32) -> Result<Self::Subscriber> {
        made("a subscriber of", &topic.name, either!(self, trial => topics::subscriber(trial, topic)))
    }

    fn own_settings(&self) -> Option<OwnSettings> {
        match self {
            Self::Ipc(trial) => trial.code.settings(),
            Self::Threadsafe(trial) => trial.code.settings(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let (buffer, settings) = match self {
            Self::Ipc(trial) => (&trial.buffer, trial.settings),
            Self::Threadsafe(trial) => (&trial.buffer, trial.settings),
        };
        if settings.pattern == Pattern::RequestReply {
            return Vec::new();
        }
        let held = buffer.messages;
        match settings.depth() {
            None => vec![format!(
                "keep-all is bounded to {held} messages of a publisher waiting in a subscriber: when the buffer is \
                 full, a reliable publisher waits and best effort loses messages"
            )],
            Some(depth) if buffer.bounded => vec![format!(
                "a subscriber holds {held} messages of a publisher, although the depth requests {depth}: all publishers together \
                 use at most half of /dev/shm"
            )],
            Some(_) => Vec::new(),
        }
    }
}

impl RequestReply for Iceoryx2 {
    type Requests = of_both!(Sender, service::Requests);
    type Replies = of_both!(Receiver, service::Replies);
    type Answers = of_both!(Sender, service::Answers);
    type Requested = of_both!(Receiver, service::Requested);

    fn client(&mut self, service: &Topic, index: u32) -> Result<(Self::Requests, Self::Replies)> {
        made("a client of", &service.name, either_two!(self, trial => service::client(trial, service, index)))
    }

    fn server(&mut self, service: &Topic, _index: u32) -> Result<(Self::Answers, Self::Requested)> {
        made("a server of", &service.name, either_two!(self, trial => service::server(trial, service)))
    }
}

fn made<T>(what: &str, name: &str, made: Outcome<T>) -> Result<T> {
    made.map_err(|why| {
        let advice = "check that /dev/shm is writable and not full (`df -h /dev/shm`)";
        Error::new(format!("iceoryx2: {what} {name} cannot be created: {why} ({why:?})"), advice)
    })
}

/// Returns the library's defaults with a few changes, and ignores the user's configuration files. iceoryx2 writes its
/// files into the trial's folder. The path of this folder may be too long for the address of a Unix socket, so the
/// configuration contains the path of its descriptor instead. Shared memory has no folders, so the names of each trial
/// have a prefix. The launcher cleans up after killed processes, so iceoryx2 does not search for dead nodes.
fn config(scope: &str, root: &File) -> Outcome<Config> {
    let mut config = Config::default();
    let path = format!("/proc/self/fd/{}", root.as_raw_fd());
    config.global.set_root_path(&Path::new(path.as_bytes())?);
    config.global.prefix = FileName::new(format!("{PREFIX}{scope}_").as_bytes())?;
    config.global.creation_timeout = Duration::from_secs(10);
    config.global.service.cleanup_dead_nodes_on_open = false;
    config.global.node.cleanup_dead_nodes_on_creation = false;
    config.global.node.cleanup_dead_nodes_on_destruction = false;
    Ok(config)
}
