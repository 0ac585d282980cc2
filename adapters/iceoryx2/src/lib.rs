//! Eclipse iceoryx2 behind Middlemark's contract. README.md says how each setting becomes one of its own.

mod bell;
mod ends;
mod room;
mod service;
mod topics;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use iceoryx2::prelude::*;
use iceoryx2_bb_elementary::package_version::PackageVersion;
use middlemark_adapter::{
    Adapter, Description, Error, Pattern, Reception, RequestReply, Result, Settings, Topic, Transport,
};

use ends::{Receiver, Sender};
use room::Room;

middlemark_adapter::worker!(Iceoryx2, request_reply);

middlemark_adapter::native_settings! {
    pub struct Native {
        /// alignment of payloads in bytes
        payload_alignment: Option<u8> = None => [
            choices: vec!["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096"],
            otherwise: "the library's".into(),
        ],
    }
}

type Ipc = ipc::Service;
type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Of every file in /dev/shm.
const PREFIX: &str = "middlemark-iox2.";

/// The node of this process, set apart from every other iceoryx2 on the machine, and what every end of the trial has in common.
pub struct Iceoryx2 {
    node: Node<Ipc>,
    room: Room,
    native: Native,
    settings: &'static Settings,
    _root: File,
}

impl Iceoryx2 {
    /// Receivers sleep: each message is followed by a notification.
    fn blocks(&self) -> bool {
        self.settings.reception == Reception::Block
    }

    /// A full buffer loses its oldest message instead of holding the sender up or refusing the newest.
    fn overflows(&self) -> bool {
        !self.settings.reliable() && self.settings.depth().is_some()
    }

    fn alignment(&self) -> Option<Alignment> {
        self.native.payload_alignment.and_then(|power| Alignment::new(1 << power))
    }
}

impl Adapter for Iceoryx2 {
    type Publisher = Sender<topics::Samples>;
    type Subscriber = Receiver<topics::Inbox>;

    fn describe() -> Description {
        let shm = Transport {
            name: "shm",
            carrier: "shared-memory",
            segments: vec![format!("{PREFIX}*.data")],
            receive: vec!["poll", "block"],
            loan: vec![false, true],
            max_depth: Some(1_000_000), // as deep as was tried; it has no bound of its own
            ..Transport::default()
        };
        Description {
            name: "iceoryx2",
            title: "Eclipse iceoryx2",
            version: PackageVersion::get().to_string(),
            licence: "Apache-2.0 OR MIT",
            transports: vec![shm],
            residue: vec![format!("/dev/shm/{PREFIX}{{scope}}_*")],
            native: Native::table(),
            ..Description::default()
        }
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        // With the rest of its name the address of a listener's Unix socket ends here.
        const LONGEST_SCOPE: usize = 28;
        let scope = &settings.scope;
        if scope.len() > LONGEST_SCOPE {
            let why = "iceoryx2 names Unix sockets after it";
            return Err(
                format!("iceoryx2: the scope {scope:?} is longer than {LONGEST_SCOPE} characters: {why}").into()
            );
        }
        let room = Room::of(settings)?;
        set_log_level(LogLevel::Error);
        let open = || -> Outcome<_> {
            let root = File::open(&*settings.scratch)?;
            let node = NodeBuilder::new()
                .name(&NodeName::new(scope)?)
                .config(&config(scope, &root)?)
                .signal_handling_mode(SignalHandlingMode::Disabled)
                .create::<Ipc>()?;
            Ok((node, root))
        };
        let (node, root) = made("a node in", &settings.scratch, open())?;
        let native = Native::of(settings);
        Ok(Self { node, room, native, settings, _root: root })
    }

    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Self::Publisher> {
        made("a publisher of", &topic.name, topics::publisher(self, topic))
    }

    fn subscriber(&mut self, topic: &Topic, _index: u32) -> Result<Self::Subscriber> {
        made("a subscriber of", &topic.name, topics::subscriber(self, topic))
    }

    fn notes(&self) -> Vec<String> {
        if self.settings.pattern == Pattern::RequestReply {
            return Vec::new();
        }
        let held = self.room.messages;
        match self.settings.depth() {
            None => vec![format!(
                "keep-all is bounded to {held} messages of a publisher waiting in a subscriber: beyond, a reliable publisher is held \
                 up and best effort loses"
            )],
            Some(depth) if self.room.bounded => vec![format!(
                "a subscriber holds {held} messages of a publisher where the depth asks for {depth}: all publishers together keep to \
                 half of /dev/shm"
            )],
            Some(_) => Vec::new(),
        }
    }
}

impl RequestReply for Iceoryx2 {
    type Requests = Sender<service::Requests>;
    type Replies = Receiver<service::Replies>;
    type Answers = Sender<service::Answers>;
    type Requested = Receiver<service::Requested>;

    fn client(&mut self, service: &Topic, index: u32) -> Result<(Self::Requests, Self::Replies)> {
        made("a client of", &service.name, service::client(self, service, index))
    }

    fn server(&mut self, service: &Topic, _index: u32) -> Result<(Self::Answers, Self::Requested)> {
        made("a server of", &service.name, service::server(self, service))
    }
}

fn made<T>(what: &str, name: &str, made: Outcome<T>) -> Result<T> {
    made.map_err(|why| {
        let advice = "is there room in /dev/shm and may it be written? 'df -h /dev/shm'";
        Error::new(format!("iceoryx2: {what} {name} cannot be made: {why} ({why:?})"), advice)
    })
}

/// The library's own defaults, whatever configuration files lie around. Files go into the trial's folder; its path may be longer than
/// the address of a Unix socket allows, so it is named by its descriptor. Shared memory has no folders: there the prefix tells trials
/// apart. Who is killed is cleared away by the launcher, so nobody looks for dead nodes.
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
