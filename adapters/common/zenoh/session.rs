//! The session of a worker, its configuration, and its pool of shared memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use middlemark_adapter::{Error, OwnSettings, Pattern, Reception, Result, Settings, Topic, Via};
use zenoh::qos::{CongestionControl, Priority, Reliability};
use zenoh::shm::{PosixShmProviderBackend, ShmProvider, ShmProviderBuilder, ShmProviderState};
use zenoh::{Config, Wait};

use super::alive::Alive;
use super::applied::Applied;
use super::endpoints::Meeting;
use super::protection::Protection;
use super::router::{self, Names, Users};
use super::Native;
use crate::wire;

type Pool = ShmProvider<PosixShmProviderBackend>;

pub struct Session {
    pub zenoh: zenoh::Session,
    pub alive: Alive,
    /// The pool from which senders get memory; `None` if they use the heap.
    pub pool: Option<Pool>,
    pub settings: &'static Settings,
    pub native: Native,
    /// The size of this process's pool of shared memory; 0 if messages do not use shared memory.
    pub pool_bytes: usize,
    /// `None` in a trial without security.
    pub protection: Option<Protection>,
    applied: Applied,
}

/// The quality of service of a topic's publishers and queriers.
#[derive(Debug)]
pub struct Qos {
    pub reliability: Reliability,
    pub congestion_control: CongestionControl,
    pub priority: Priority,
    pub express: bool,
}

/// The kind of channel in which messages wait for a subscriber.
#[derive(Debug)]
pub enum Waiting {
    Callback,
    RingChannel(usize),
    FifoChannel(usize),
}

impl Session {
    pub fn open(settings: &'static Settings) -> Result<Self> {
        let native = Native::of(settings);
        let pooled = settings.transport == "shm";
        let pool_bytes = if pooled { pool_bytes(settings, &native)? } else { 0 };
        // In the default configuration large messages use a pool of zenoh's default size.
        let shared =
            pooled || (wire::SHARES_BY_DEFAULT && settings.is_default_configuration() && !settings.one_process);
        let _turn = shared.then(|| take_turn(settings)).transpose()?;
        let meeting =
            (!settings.one_process).then(|| Meeting::of(settings, router::users(settings, &native)?)).transpose()?;
        let protection = Protection::of(settings, &native)?;
        let mut applied = Applied::default();
        let config = configuration(settings, &native, pool_bytes, meeting.as_ref(), protection.as_ref(), &mut applied)?;
        let opened = || -> zenoh::Result<_> {
            let zenoh = zenoh::open(config).wait()?;
            let lends = pooled && settings.loan;
            let pool = lends.then(|| ShmProviderBuilder::default_backend(pool_bytes).wait()).transpose()?;
            if shared {
                make_segments(&zenoh, pool.as_ref());
            }
            let alive = Alive::watch(zenoh.clone(), wire::Names::of(&zenoh, settings)?, settings)?;
            Ok((zenoh, pool, alive))
        };
        let ends = meeting.as_ref().and_then(|meeting| meeting.listen.first().or(meeting.connect.first()));
        let place = ends.map_or("no endpoint", String::as_str);
        let (zenoh, pool, alive) = opened().map_err(|error| failed(settings, "open a session at", place, error))?;
        Ok(Self { zenoh, alive, pool, settings, native, pool_bytes, protection, applied })
    }

    /// Returns true if every link uses shared memory, or if the trial does not require it. If a peer cannot open the shared
    /// memory, zenoh silently sends over the socket instead.
    ///
    /// If a router introduces the sessions, also returns false until this session has a link to each of the others, because
    /// before that the router passes messages on. In a crowd the first message may pass through the router.
    pub fn can_send(&self) -> bool {
        let settings = self.settings;
        let introduced = wire::MEETS_AT_ROUTER && settings.via == Via::Direct && !settings.one_process;
        let needs_links = introduced && settings.pattern != Pattern::Crowd;
        if needs_links && self.zenoh.info().peers_zid().wait().count() + 1 < settings.workers as usize {
            return false;
        }
        self.pool_bytes == 0 || {
            let mut links = self.zenoh.info().transports().wait();
            links.all(|link| link.is_shm())
        }
    }

    /// Returns a note about the values of the user's own configuration that the trial replaced; `None` without one.
    pub fn own_configuration(&self) -> Option<String> {
        let file = self.native.file.as_ref()?;
        Some(match router::names(&self.native) {
            Ok(Names::Router) => {
                format!("config: {file} is the router's, and the sessions have the adapter's settings")
            }
            _ => self.applied.note(),
        })
    }

    /// Returns a note about the way of the messages in a trial whose sessions are peers that a router introduced.
    pub fn introduced(&self) -> Option<String> {
        let introduced = self.settings.via == Via::Router && self.zenoh.info().peers_zid().wait().next().is_some();
        introduced.then(|| "the router only introduced the sessions: their messages pass from peer to peer".into())
    }

    pub fn own_settings(&self) -> OwnSettings {
        let mut applied = self.applied.clone();
        if let Some(note) = self.introduced() {
            applied.comment(&note);
        }
        for topic in self.settings.endpoints.iter() {
            let (sender, receiver) = if topic.service { ("querier", "queryable") } else { ("publisher", "subscriber") };
            applied.comment(&format!("{sender}: {:?}", self.qos(topic)));
            applied.comment(&format!("{receiver}: {:?}", self.waiting(topic)));
        }
        applied.settings()
    }

    /// Returns the quality of service of the topic's publishers or queriers.
    pub fn qos(&self, topic: &Topic) -> Qos {
        let reliability = match topic.reliable() {
            true => Reliability::Reliable,
            false => Reliability::BestEffort,
        };
        let congestion_control = match self.native.congestion.unwrap_or(wire::blocks(topic)) {
            true => CongestionControl::Block,
            false => CongestionControl::Drop,
        };
        // zenoh's priorities begin at 1, those of `native.priority` at 0.
        let priority = Priority::try_from(1 + self.native.priority).unwrap_or_default();
        Qos { reliability, congestion_control, priority, express: self.express() }
    }

    /// Returns a channel with room for `depth` messages of each publisher, so the messages of one publisher do not
    /// replace those of another.
    pub fn waiting(&self, topic: &Topic) -> Waiting {
        let capacity = topic.capacity().unwrap_or(self.native.fifo_capacity);
        match self.native.channel.unwrap_or(topic.depth().is_some()) {
            _ if self.settings.reception == Reception::Listen => Waiting::Callback,
            true => Waiting::RingChannel(capacity),
            false => Waiting::FifoChannel(capacity),
        }
    }

    /// Returns whether each message is sent at once instead of in a batch.
    pub fn express(&self) -> bool {
        self.native.express.unwrap_or(wire::express(self.settings))
    }

    pub fn declared<T>(&self, what: &str, topic: &Topic, end: zenoh::Result<T>) -> Result<T> {
        end.map_err(|error| failed(self.settings, &format!("declare {what}"), &topic.name, error))
    }
}

fn failed(settings: &Settings, act: &str, name: &str, error: zenoh::Error) -> Error {
    format!("zenoh: {}: cannot {act} {name}: {}", settings.transport, without_place(&error)).into()
}

/// Returns zenoh's error message without the source location at its end.
pub fn without_place(error: &zenoh::Error) -> String {
    let words = error.to_string();
    words.rsplit_once(" at /").map_or(words.as_str(), |(message, _)| message).to_owned()
}

/// Fails if zenoh's parser refuses the user's own configuration or a setting by a path of zenoh's configuration.
pub fn check(settings: &Settings) -> Result<()> {
    let native = Native::of(settings);
    configuration(settings, &native, 0, None, None, &mut Applied::default())?;
    router::check(settings, &native)
}

/// Returns the user's own configuration.
pub fn own_file(path: &str) -> Result<Config> {
    Config::from_file(path)
        .map_err(|error| Error::from(format!("zenoh: config: {path}: {}", of_parser(&without_place(&error)))))
}

pub fn refused(path: &str, json5: &str, error: &zenoh::Error) -> Error {
    format!("zenoh: config.{path}={json5}: {}", without_place(error)).into()
}

/// Returns message and place of an error of zenoh's JSON5 parser. `words` is the error as zenoh prints it: a Rust
/// value.
fn of_parser(words: &str) -> String {
    let part = |begin, end| Some(words.split_once(begin)?.1.split_once(end)?.0);
    let found =
        || Some((part("{ msg: \"", "\", location:")?, part("Location { line: ", ", ")?, part("column: ", " }")?));
    match found() {
        Some((message, line, column)) => format!("line {line}, column {column}: {}", message.replace("\\\"", "\"")),
        None => words.to_owned(),
    }
}

fn configuration(
    settings: &Settings,
    native: &Native,
    pool_bytes: usize,
    meeting: Option<&Meeting>,
    protection: Option<&Protection>,
    applied: &mut Applied,
) -> Result<Config> {
    // A file with the configuration of a router is read by the router only.
    let file = native.file.as_ref().filter(|_| router::names(native).ok() != Some(Names::Router));
    let mut config = match file {
        None => Config::default(),
        Some(path) => own_file(path)?,
    };
    if file.is_some() {
        applied.comment("the other values are those of your own file (native.config)");
    } else {
        for (path, json5) in wire::CONFIGURATION {
            applied.set(path, json5);
            config.insert_json5(path, json5).map_err(|error| refused(path, json5, &error))?;
        }
    }
    let (own, usual) = (config.clone(), Config::default());
    let mut set = |path: &str, json5: &str| {
        applied.set(path, json5);
        config.insert_json5(path, json5).map_err(|error| refused(path, json5, &error))?;
        let [before, default, now] = [&own, &usual, &config].map(|each| each.get_json(path).unwrap_or_default());
        if file.is_some() && before != default && before != now {
            applied.replaced(path, &before);
        }
        Ok(())
    };
    let is_default = settings.is_default_configuration();
    let routed = router::users(settings, native)?;
    set("mode", if routed == Some(Users::Clients) { "\"client\"" } else { "\"peer\"" })?;
    set("scouting/multicast/enabled", "false")?;
    if !is_default && routed.is_none() && settings.pattern != Pattern::Crowd {
        set("scouting/gossip/enabled", "false")?;
    }
    set("connect/retry", "{ period_init_ms: 10, period_max_ms: 50, period_increase_factor: 1.5 }")?;
    let timeout_us = settings.write_timeout().as_micros().to_string();
    set("transport/link/tx/queue/congestion_control/block/wait_before_close", &timeout_us)?;
    if let Some(bytes) = native.batch_size {
        set("transport/link/tx/batch_size", &bytes.to_string())?;
    }
    if !(is_default && wire::SHARES_BY_DEFAULT) {
        set("transport/shared_memory/enabled", if pool_bytes != 0 { "true" } else { "false" })?;
    }
    if pool_bytes != 0 {
        set("transport/shared_memory/mode", "\"init\"")?;
        let (copies, threshold) = (!settings.loan, native.shm_threshold);
        let rules = format!("{{ enabled: {copies}, pool_size: {pool_bytes}, message_size_threshold: {threshold} }}");
        set("transport/shared_memory/transport_optimization", &rules)?;
    }
    set("listen/endpoints", "[]")?;
    if let Some(meeting) = meeting {
        set("listen/endpoints", &format!("{:?}", meeting.listen))?;
        set("connect/endpoints", &format!("{:?}", meeting.connect))?;
    }
    native.config.iter().try_for_each(|(path, json5)| set(path, json5))?;
    protection.map_or(Ok(()), |protection| protection.configure(&mut set))?;
    Ok(config)
}

/// Returns the size of the pool in bytes. zenoh checks ten times per second which messages its peers have read, and
/// reuses their memory only after that. So the pool limits how many messages can be sent in 100 ms. By default it has
/// room for 2048 messages, which is more than a ping sends in 100 ms. It has 16 to 256 MiB, and at most
/// this process's share of the free space.
fn pool_bytes(settings: &Settings, native: &Native) -> Result<usize> {
    const MIB: usize = 1 << 20;
    const LEAST_MESSAGES: usize = 8;
    // Add 64 bytes for an allocation's metadata and alignment.
    let message = settings.message_bytes + 64;
    // Use half of the free space, so that another trial at the same time can use as much.
    let parts = 2 * settings.workers.max(1) as usize;
    let share = settings.shm_free_bytes / parts;
    let usual = (2048 * message).clamp(16 * MIB, 256 * MIB).min(share).max(LEAST_MESSAGES * message);
    let wanted = native.shm_pool_bytes.unwrap_or(usual);
    let what = format!("zenoh: shm: pools of {wanted} bytes in each of {} processes", settings.workers);
    settings.shm_holds(wanted * parts, &what, "a smaller native.shm_pool_bytes")?;
    Ok(wanted)
}

/// Locks a file, so that workers with shared memory open their sessions one after the other. When a process makes its first
/// segment, zenoh deletes every unlocked segment in /dev/shm. A segment that another process has just made is unlocked for a
/// moment; it would be deleted too, and no peer could open it. The kernel unlocks the file when the process ends.
fn take_turn(settings: &Settings) -> Result<File> {
    let path = format!("{}/zenoh.turn", settings.scratch);
    let failed = |error: io::Error| Error::from(format!("zenoh: {path}: {error}"));
    let file = File::options().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(failed(error));
        }
    }
    Ok(file)
}

/// Makes zenoh create two kinds of segment now instead of later. One of its threads creates the segment of its own pool
/// for copies. The first allocation creates the segments of metadata.
fn make_segments(zenoh: &zenoh::Session, pool: Option<&Pool>) {
    const PAUSE: Duration = Duration::from_millis(1);
    if let Some(pool) = pool {
        let _ = pool.alloc(1).wait(); // even a failed allocation creates the segments of metadata
        return;
    }
    loop {
        match zenoh.get_shm_provider() {
            ShmProviderState::Initializing(_) => std::thread::sleep(PAUSE),
            ShmProviderState::Ready(provider) => {
                let _ = provider.alloc(1).wait();
                return;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_parser;

    #[test]
    fn an_error_of_the_parser_begins_with_its_place() {
        let words =
            r#"JSON error: Message { msg: "unknown field `bulk`", location: Some(Location { line: 6, column: 39 }) }"#;
        assert_eq!(of_parser(words), "line 6, column 39: unknown field `bulk`");
        assert_eq!(of_parser("File not found"), "File not found");
    }
}
