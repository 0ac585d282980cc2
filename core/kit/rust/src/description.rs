//! Written by scripts/protocol from src/middlemark/model/description.py: change that.
//!
//! The description of an adapter. C++ receives it as JSON, once, before anything runs. Its texts live as long as
//! the process: `String::leak` turns a text that is made at run time into one.
#![cfg_attr(rustfmt, rustfmt_skip)]

use std::collections::BTreeMap;

use crate::json::{object, Json};

/// Name of the transport with the middleware's default configuration. The adapter sets only the options that separate
/// the trial from others and keep it on its network interface. Descriptions list it last. It is measured only if a user
/// selects it by name.
pub const DEFAULT_CONFIGURATION: &str = "default";

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern { PingPong, Stream, RequestReply }
impl Pattern {
    pub fn word(self) -> &'static str {
        ["ping-pong", "stream", "request-reply"][self as usize]
    }
}
impl Json for Pattern {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability { Reliable, BestEffort }
impl Reliability {
    pub fn word(self) -> &'static str {
        ["reliable", "best-effort"][self as usize]
    }
}
impl Json for Reliability {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception { Poll, Block, Listen }
impl Reception {
    pub fn word(self) -> &'static str {
        ["poll", "block", "listen"][self as usize]
    }
}
impl Json for Reception {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// The content of a message: plain bytes, or one of ROS's common messages, which is serialised and deserialised.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageType { Octets, Image, PointCloud, Imu, Tf }
impl MessageType {
    pub fn word(self) -> &'static str {
        ["octets", "image", "point-cloud", "imu", "tf"][self as usize]
    }
}
impl Json for MessageType {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// Protection of the messages. `none`: no protection. `authenticated`: the peers have proved who they are. `signed`:
/// also, nobody can change a message unnoticed. `encrypted`: also, nobody else can read a message.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security { None, Authenticated, Signed, Encrypted }
impl Security {
    pub fn word(self) -> &'static str {
        ["none", "authenticated", "signed", "encrypted"][self as usize]
    }
}
impl Json for Security {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// Whose certificate and key a process has: docs/security.md. `intruder`: a valid certificate without permission.
/// `stranger`: a certificate of another authority.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity { Sender, Receiver, Broker, Intruder, Stranger }
impl Identity {
    pub fn word(self) -> &'static str {
        ["sender", "receiver", "broker", "intruder", "stranger"][self as usize]
    }
}
impl Json for Identity {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// Kinds of files in a set of certificates (docs/security.md). `x509`: an authority's certificate, and a certificate
/// and a key for each identity. `dds`: also the governance and permissions of DDS Security. `curve`: key pairs of
/// CURVE.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential { X509, Dds, Curve }
impl Credential {
    pub fn word(self) -> &'static str {
        ["x509", "dds", "curve"][self as usize]
    }
}
impl Json for Credential {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// How the text of a native setting is read. `boolean`: true or false (also 1 and 0, on and off). `integer`: a whole
/// number. `bytes`: a number without or with a unit (65536, 64KiB). `duration`: a number with a unit (1.5ms). `choice`:
/// one of a few words. `text`: any text; the adapter checks it. `file`: the absolute path of a user's file; results
/// record a hash of its content.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeType { Boolean, Integer, Bytes, Duration, Choice, Text, File }
impl NativeType {
    pub fn word(self) -> &'static str {
        ["boolean", "integer", "bytes", "duration", "choice", "text", "file"][self as usize]
    }
}
impl Json for NativeType {
    fn write_to(&self, json: &mut String) {
        self.word().write_to(json);
    }
}

/// One transport of an adapter with its capabilities. Anything that is not listed is refused before a trial starts.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Unique within the adapter: `udp`, `shm`. `default`: the middleware's default configuration.
    pub name: &'static str,
    /// How the data must move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`. It is
    /// checked during the trial. `any`: the middleware chooses, and reports show the observed carrier.
    pub carrier: &'static str,
    /// For shared memory: globs of file names under /dev/shm, one of which must be mapped; `SYSV*` for System V.
    pub segments: Vec<&'static str>,
    /// 1: all roles in one process; 2: each role in a process of its own.
    pub processes: Vec<i32>,
    pub receive: Vec<Reception>,
    pub reliability: Vec<Reliability>,
    /// false: the adapter's own memory is sent; true: memory that the middleware lends is sent.
    pub loan: Vec<bool>,
    /// The levels of `loan` at which the transport copies no bytes but passes a pointer or the index of a chunk to the
    /// receiver; empty: it always copies. null: the worker is older than this field.
    pub hands_over: Vec<bool>,
    /// Size of the largest message.
    pub max_bytes: usize,
    /// How to raise `max_bytes`; empty: it cannot be raised.
    pub max_bytes_advice: &'static str,
    /// Depth of the deepest history; null: no limit.
    pub max_depth: Option<u32>,
    /// Keep-all history is supported.
    pub keep_all: bool,
    /// The transport needs daemons, which `companions` of the adapter lists.
    pub companions: bool,
    /// The transport listens on every interface, so a trial on this machine runs in a network namespace that contains
    /// only lo.
    pub own_network: bool,
    /// The ping has no pongs and receives the messages that it published itself.
    pub alone: bool,
    /// Carrier under best effort, if it differs from `carrier`. Does not apply to a native service.
    pub best_effort_carrier: &'static str,
    /// Supported message types, octets first.
    pub types: Vec<MessageType>,
    /// The messages of a topic may have different sizes.
    pub varying_sizes: bool,
    /// Services of a workload use the middleware's own request and reply.
    pub services: bool,
    /// The largest number of transient-local messages that a subscriber which joins late can receive; 0: volatile only;
    /// null: no limit.
    pub max_history: Option<u32>,
    /// Supported levels of security. `protected_by()` of the adapter names the algorithms.
    pub security: Vec<Security>,
    /// Why the transport does not support the other levels; empty: no reason is known.
    pub security_why: &'static str,
    /// With security, peers reject an `intruder`: a peer with a certificate of the authority but without permission.
    pub permissions: bool,
}
impl Default for Transport {
    fn default() -> Self {
        Self {
            name: Default::default(),
            carrier: Default::default(),
            segments: Default::default(),
            processes: vec![1, 2],
            receive: vec![Reception::Poll, Reception::Block, Reception::Listen],
            reliability: vec![Reliability::Reliable, Reliability::BestEffort],
            loan: vec![false],
            hands_over: Default::default(),
            max_bytes: 67108864,
            max_bytes_advice: Default::default(),
            max_depth: Default::default(),
            keep_all: true,
            companions: false,
            own_network: false,
            alone: false,
            best_effort_carrier: Default::default(),
            types: vec![MessageType::Octets],
            varying_sizes: false,
            services: false,
            max_history: Some(0),
            security: vec![Security::None],
            security_why: Default::default(),
            permissions: false,
        }
    }
}
impl Json for Transport {
    fn write_to(&self, json: &mut String) {
        object(json, &[
            ("name", &self.name),
            ("carrier", &self.carrier),
            ("segments", &self.segments),
            ("processes", &self.processes),
            ("receive", &self.receive),
            ("reliability", &self.reliability),
            ("loan", &self.loan),
            ("hands_over", &self.hands_over),
            ("max_bytes", &self.max_bytes),
            ("max_bytes_advice", &self.max_bytes_advice),
            ("max_depth", &self.max_depth),
            ("keep_all", &self.keep_all),
            ("companions", &self.companions),
            ("own_network", &self.own_network),
            ("alone", &self.alone),
            ("best_effort_carrier", &self.best_effort_carrier),
            ("types", &self.types),
            ("varying_sizes", &self.varying_sizes),
            ("services", &self.services),
            ("max_history", &self.max_history),
            ("security", &self.security),
            ("security_why", &self.security_why),
            ("permissions", &self.permissions),
        ]);
    }
}

/// One of the middleware's own settings. The core refuses an invalid value before the middleware is opened.
#[derive(Clone, Debug)]
pub struct NativeSetting {
    /// Effect of the setting.
    pub help: &'static str,
    /// The lowest number; in ns for a duration.
    pub least: Option<i64>,
    /// The highest number; in ns for a duration.
    pub most: Option<i64>,
    /// For a choice: its words, in the order of its values. For a number: words that are allowed instead of it.
    pub choices: Vec<&'static str>,
    /// The transports that it affects; empty: all.
    pub transports: Vec<&'static str>,
    /// The patterns that it affects; empty: all.
    pub patterns: Vec<Pattern>,
    /// The default in words; empty: the help names it, or there is none.
    pub otherwise: &'static str,
    /// In an adapter's source, `text` (the default) means that the type follows from the type of the C++ member.
    pub kind: NativeType,
    /// The allowed values in words. Written by the core.
    pub allowed: &'static str,
}
impl Default for NativeSetting {
    fn default() -> Self {
        Self {
            help: Default::default(),
            least: Default::default(),
            most: Default::default(),
            choices: Default::default(),
            transports: Default::default(),
            patterns: Default::default(),
            otherwise: Default::default(),
            kind: NativeType::Text,
            allowed: "a text",
        }
    }
}
impl Json for NativeSetting {
    fn write_to(&self, json: &mut String) {
        object(json, &[
            ("help", &self.help),
            ("least", &self.least),
            ("most", &self.most),
            ("choices", &self.choices),
            ("transports", &self.transports),
            ("patterns", &self.patterns),
            ("default", &self.otherwise),
            ("type", &self.kind),
            ("allowed", &self.allowed),
        ]);
    }
}

/// The description of an adapter, which its worker prints without opening the middleware.
#[derive(Clone, Debug)]
pub struct Description {
    pub protocol: i32,
    /// Name of the adapter's folder.
    pub name: &'static str,
    /// Full name: Eclipse Cyclone DDS.
    pub title: &'static str,
    /// Version of the loaded library, not of the headers.
    pub version: &'static str,
    /// Path of the loaded library; empty: there is none.
    pub library: &'static str,
    /// SPDX identifier.
    pub licence: &'static str,
    /// true: a raw transport, which serves as baseline; false: a middleware.
    pub is_raw_transport: bool,
    /// The adapter is for tests of the bench itself and is never part of `all`.
    pub bench_only: bool,
    /// The first transport is used if the user names none.
    pub transports: Vec<Transport>,
    /// The middleware has its own request and reply. Written by the core, which looks for `client()` and `server()`.
    pub request_reply: bool,
    /// The kinds of certificate files that the adapter reads.
    pub credentials: Vec<Credential>,
    /// The middleware receives on its own threads, which need another processor than a polling role.
    pub own_threads: bool,
    /// A `take()` returns after this number of messages, so that the role can check for the stop. If each publisher has
    /// its own queue, the number is per publisher. null: `take()` visits all messages that had arrived when it was
    /// called. Written by the core, which reads it from the subscriber's class.
    pub most_per_take: Option<usize>,
    /// Files that a killed worker may leave behind: absolute globs (`{scope}` is replaced); for System V: `sysv:*`.
    pub residue: Vec<&'static str>,
    /// Every native setting by key; a key that ends in `*` matches every key with the same beginning.
    pub native: BTreeMap<&'static str, NativeSetting>,
}
impl Default for Description {
    fn default() -> Self {
        Self {
            protocol: 1,
            name: Default::default(),
            title: Default::default(),
            version: Default::default(),
            library: Default::default(),
            licence: Default::default(),
            is_raw_transport: Default::default(),
            bench_only: Default::default(),
            transports: Default::default(),
            request_reply: Default::default(),
            credentials: Default::default(),
            own_threads: Default::default(),
            most_per_take: Default::default(),
            residue: Default::default(),
            native: Default::default(),
        }
    }
}
impl Json for Description {
    fn write_to(&self, json: &mut String) {
        object(json, &[
            ("protocol", &self.protocol),
            ("name", &self.name),
            ("title", &self.title),
            ("version", &self.version),
            ("library", &self.library),
            ("licence", &self.licence),
            ("is_raw_transport", &self.is_raw_transport),
            ("bench_only", &self.bench_only),
            ("transports", &self.transports),
            ("request_reply", &self.request_reply),
            ("credentials", &self.credentials),
            ("own_threads", &self.own_threads),
            ("most_per_take", &self.most_per_take),
            ("residue", &self.residue),
            ("native", &self.native),
        ]);
    }
}

/// A daemon that must run while the workers run.
#[derive(Clone, Debug)]
pub struct Companion {
    pub name: &'static str,
    pub argv: Vec<&'static str>,
    /// Variables for the companion and for every worker of the trial.
    pub environment: BTreeMap<&'static str, &'static str>,
    /// Regular expression for the line that the daemon prints on stdout or stderr when it is ready.
    pub ready_pattern: &'static str,
    pub ready_timeout_s: f64,
}
impl Default for Companion {
    fn default() -> Self {
        Self {
            name: Default::default(),
            argv: Default::default(),
            environment: Default::default(),
            ready_pattern: Default::default(),
            ready_timeout_s: 10.0,
        }
    }
}
impl Json for Companion {
    fn write_to(&self, json: &mut String) {
        object(json, &[
            ("name", &self.name),
            ("argv", &self.argv),
            ("environment", &self.environment),
            ("ready_pattern", &self.ready_pattern),
            ("ready_timeout_s", &self.ready_timeout_s),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_of;

    #[test]
    fn every_field_of_a_description_is_written_as_the_schema_has_it() {
        let full = Description { protocol: 20, name: "so \"so\"", title: "so \"so\"", version: "so \"so\"", library: "so \"so\"", licence: "so \"so\"", is_raw_transport: true, bench_only: true, transports: vec![Transport { name: "so \"so\"", carrier: "so \"so\"", segments: vec!["so \"so\""], processes: vec![2], receive: vec![Reception::Poll], reliability: vec![Reliability::Reliable], loan: vec![true], hands_over: vec![true], max_bytes: 20, max_bytes_advice: "so \"so\"", max_depth: Some(20), keep_all: false, companions: true, own_network: true, alone: true, best_effort_carrier: "so \"so\"", types: vec![MessageType::Tf], varying_sizes: true, services: true, max_history: Some(20), security: vec![Security::Signed], security_why: "so \"so\"", permissions: true }], request_reply: true, credentials: vec![Credential::X509], own_threads: true, most_per_take: Some(20), residue: vec!["so \"so\""], native: BTreeMap::from([("so", NativeSetting { help: "so \"so\"", least: Some(20), most: Some(20), choices: vec!["so \"so\""], transports: vec!["so \"so\""], patterns: vec![Pattern::Stream], otherwise: "so \"so\"", kind: NativeType::Integer, allowed: "so \"so\"" })]) };
        assert_eq!(json_of(&full), r#"{"protocol":20,"name":"so \"so\"","title":"so \"so\"","version":"so \"so\"","library":"so \"so\"","licence":"so \"so\"","is_raw_transport":true,"bench_only":true,"transports":[{"name":"so \"so\"","carrier":"so \"so\"","segments":["so \"so\""],"processes":[2],"receive":["poll"],"reliability":["reliable"],"loan":[true],"hands_over":[true],"max_bytes":20,"max_bytes_advice":"so \"so\"","max_depth":20,"keep_all":false,"companions":true,"own_network":true,"alone":true,"best_effort_carrier":"so \"so\"","types":["tf"],"varying_sizes":true,"services":true,"max_history":20,"security":["signed"],"security_why":"so \"so\"","permissions":true}],"request_reply":true,"credentials":["x509"],"own_threads":true,"most_per_take":20,"residue":["so \"so\""],"native":{"so":{"help":"so \"so\"","least":20,"most":20,"choices":["so \"so\""],"transports":["so \"so\""],"patterns":["stream"],"default":"so \"so\"","type":"integer","allowed":"so \"so\""}}}"#);
    }

    #[test]
    fn every_field_of_a_companion_is_written_as_the_schema_has_it() {
        let full = Companion { name: "so \"so\"", argv: vec!["so \"so\""], environment: BTreeMap::from([("so", "so \"so\"")]), ready_pattern: "so \"so\"", ready_timeout_s: 2.5 };
        assert_eq!(json_of(&full), r#"{"name":"so \"so\"","argv":["so \"so\""],"environment":{"so":"so \"so\""},"ready_pattern":"so \"so\"","ready_timeout_s":2.5}"#);
    }
}
