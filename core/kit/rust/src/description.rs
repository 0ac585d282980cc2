//! Written by scripts/protocol from src/middlemark/model/description.py: change that.
//!
//! What an adapter says of itself. It crosses to C++ as JSON, once, before anything runs. Its texts live as
//! long as the process: `String::leak` makes one of a text that is made at run time.
#![cfg_attr(rustfmt, rustfmt_skip)]

use std::collections::BTreeMap;

use crate::json::{object, Json};

/// The transport that sets nothing but what keeps a trial apart from others and on its network interface: the
/// middleware as a user gets it who configures nothing. It is described last, and measured only where it is named.
pub const AS_IT_COMES: &str = "default";

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

/// What a message is: its bytes alone, or one of ROS's common messages, which is serialised and deserialised.
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

/// What protects the messages: nothing; the peers have proved who they are; what they send cannot be changed unseen
/// either; nobody else can read it either. Each level has those before it.
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

/// Whose certificate and key a process has: docs/security.md. `intruder`: valid and without permission; `stranger`:
/// another authority's.
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

/// Files of a set of certificates (docs/security.md): an authority's certificate with one and a key for each identity;
/// governance and permissions of DDS Security beside them; or key pairs of CURVE.
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
/// number. `bytes`: a whole number, or one with a unit (64KiB). `duration`: a number with a unit (1.5ms). `choice`: one
/// of a few words. `text`: anything; the adapter looks at it. `file`: the absolute path of a file of the user's, whose
/// bytes are part of what is measured.
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

/// What one transport of an adapter can carry. What is not listed is refused before anything runs.
#[derive(Clone, Debug)]
pub struct Transport {
    /// `udp`, `shm`: unique within the adapter. `default`: the middleware's default configuration.
    pub name: &'static str,
    /// What must be seen to move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`.
    /// `any`: the middleware chooses, and what is seen is told.
    pub carrier: &'static str,
    /// Shared memory: globs of file names under /dev/shm, one of which must be mapped. Of System V: `SYSV*`.
    pub segments: Vec<&'static str>,
    /// 1: both roles in one process; 2: each role in its own.
    pub processes: Vec<i32>,
    pub receive: Vec<Reception>,
    pub reliability: Vec<Reliability>,
    /// false: the adapter's memory is sent; true: memory that the middleware lends is.
    pub loan: Vec<bool>,
    /// The levels of `loan` at which a receiver is given a pointer or the index of a chunk, and nothing copies the
    /// bytes; empty: it always copies. Left out by workers that are older than this field.
    pub hands_over: Vec<bool>,
    /// The largest message.
    pub max_bytes: usize,
    /// How to lift `max_bytes`; empty: it cannot be lifted.
    pub max_bytes_advice: &'static str,
    /// The deepest history; null: no bound.
    pub max_depth: Option<u32>,
    /// Keep-all history can be honoured.
    pub keep_all: bool,
    /// A daemon is needed: the adapter is asked for its `companions`.
    pub companions: bool,
    /// It listens on every interface: a trial on this machine has a network of its own, with lo alone.
    pub own_network: bool,
    /// Nobody else takes part: a ping without pongs, which takes back what it has published.
    pub alone: bool,
    /// What must be seen to move best effort, where that is not `carrier`; a native service is not meant.
    pub best_effort_carrier: &'static str,
    /// Types of messages that it carries, octets first.
    pub types: Vec<MessageType>,
    /// Messages of a topic may be shorter than its largest.
    pub varying_sizes: bool,
    /// Services of a graph are carried by request and reply of the middleware's own.
    pub services: bool,
    /// Messages of a transient-local topic that a subscriber can get which joins late; 0: volatile only; null: no
    /// bound.
    pub max_history: Option<u32>,
    /// The levels that it has; `protected_by()` of the adapter says what protects them.
    pub security: Vec<Security>,
    /// Why it has no others; empty: nothing is to be said of it.
    pub security_why: &'static str,
    /// At those levels its peers give nothing to who is of the authority and has no permission: `intruder`.
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

/// One of the middleware's own settings. The core refuses what does not fit before the middleware is opened.
#[derive(Clone, Debug)]
pub struct NativeSetting {
    /// What it does.
    pub help: &'static str,
    /// The lowest number; of a duration in ns.
    pub least: Option<i64>,
    /// The highest number; of a duration in ns.
    pub most: Option<i64>,
    /// The words of a choice, in the order of its values; of a number: words that it may be instead.
    pub choices: Vec<&'static str>,
    /// Those that it has an effect on; none named: all.
    pub transports: Vec<&'static str>,
    /// Those that it has an effect on; none named: all.
    pub patterns: Vec<Pattern>,
    /// The default, in words; empty: the help says it, or there is none.
    pub otherwise: &'static str,
    /// In an adapter's table `text` also stands for the type of the member that holds the value.
    pub kind: NativeType,
    /// What a value must be, in words. The core writes it.
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

/// What an adapter says of itself without opening the middleware.
#[derive(Clone, Debug)]
pub struct Description {
    pub protocol: i32,
    /// The folder's name.
    pub name: &'static str,
    /// As people call it: Eclipse Cyclone DDS.
    pub title: &'static str,
    /// Of the library that is loaded, not of the headers.
    pub version: &'static str,
    /// Path of that library; empty: there is none.
    pub library: &'static str,
    /// SPDX.
    pub licence: &'static str,
    /// It is what the machine can do, not a middleware.
    pub is_raw_transport: bool,
    /// It tests the bench itself and is never part of `all`.
    pub bench_only: bool,
    /// The first is the default.
    pub transports: Vec<Transport>,
    /// It has request and reply of its own. The core writes it: there are `client()` and `server()`.
    pub request_reply: bool,
    /// What of a set of certificates its security reads.
    pub credentials: Vec<Credential>,
    /// The middleware receives on threads of its own, which need a processor beside a polling role.
    pub own_threads: bool,
    /// A `take()` of a subscriber returns after this number of messages, so that the role can look for its stop; the
    /// number is per publisher where each publisher has its own queue. null: `take()` visits what was there when it was
    /// called. The core writes it, from what the subscriber's class states.
    pub most_per_take: Option<usize>,
    /// What a killed worker may leave: absolute globs (`{scope}` is replaced); of System V: `sysv:*`.
    pub residue: Vec<&'static str>,
    /// Every native setting, by key; one that ends in `*` stands for every key that begins so.
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

/// A daemon that has to run while workers do.
#[derive(Clone, Debug)]
pub struct Companion {
    pub name: &'static str,
    pub argv: Vec<&'static str>,
    /// For the companion and for every worker of the trial.
    pub environment: BTreeMap<&'static str, &'static str>,
    /// Regular expression over a line of its stdout or stderr that says it is ready.
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
