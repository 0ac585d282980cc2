//! Written by scripts/protocol from src/middlemark/model/description.py: change that.
//!
//! The description of an adapter. C++ receives it as JSON, once, before anything runs. Its texts live as
//! long as the process: `String::leak` turns a text that is made at run time into one.
#![cfg_attr(rustfmt, rustfmt_skip)]

use std::collections::BTreeMap;

use crate::json::{described, words};

/// Name of the transport with the middleware's default configuration. The adapter sets only the options that separate
/// the trial from others and keep the trial on its network interface. Descriptions list this transport last. The
/// transport is measured only if a user selects it by name.
pub const DEFAULT_CONFIGURATION: &str = "default";

words! {
pub enum Pattern { PingPong = "ping-pong", Stream = "stream", RequestReply = "request-reply", Crowd = "crowd" }
}

words! {
/// The topics to which a participant of a crowd subscribes. `next`: the topics of the next participant; the last
/// participant subscribes to those of the first. `all`: the topics of all other participants.
pub enum Subscribe { Next = "next", All = "all" }
}

words! {
pub enum Reliability { Reliable = "reliable", BestEffort = "best-effort" }
}

words! {
pub enum Reception { Poll = "poll", Block = "block", Listen = "listen" }
}

words! {
/// The content of a message: plain bytes, or one of ROS's common messages, which is serialised and deserialised.
pub enum MessageType { Octets = "octets", Image = "image", PointCloud = "point-cloud", Imu = "imu", Tf = "tf" }
}

words! {
/// Protection of the messages. `none`: no protection. `authenticated`: the peers have proved who they are. `signed`:
/// also, nobody can change a message unnoticed. `encrypted`: also, nobody else can read a message.
pub enum Security { None = "none", Authenticated = "authenticated", Signed = "signed", Encrypted = "encrypted" }
}

words! {
/// The processes between the peers. `direct`: messages pass through no other process. `router`: messages pass through a
/// router or a broker. `discovery-server`: messages pass through no other process, and the peers find each other by a
/// server instead of the middleware's usual discovery.
pub enum Via { Direct = "direct", Router = "router", DiscoveryServer = "discovery-server" }
}

words! {
/// Whose certificate and key a process has: docs/how-to/security.md. `intruder`: a valid certificate without
/// permission. `stranger`: a certificate of another authority.
pub enum Identity { Sender = "sender", Receiver = "receiver", Broker = "broker", Intruder = "intruder", Stranger = "stranger" }
}

words! {
/// Kinds of files in a set of certificates (docs/how-to/security.md). `x509`: an authority's certificate, and a
/// certificate and a key for each identity. `dds`: also the governance and permissions of DDS Security. `curve`: key
/// pairs of CURVE.
pub enum Credential { X509 = "x509", Dds = "dds", Curve = "curve" }
}

words! {
/// The language of the middleware's interface that an adapter calls.
pub enum WrittenIn { Cpp = "C++", Rust = "Rust", Python = "Python" }
}

words! {
/// How the text of a native setting is read. `boolean`: true or false (also 1 and 0, on and off). `integer`: a whole
/// number. `bytes`: a number without or with a unit (65536, 64KiB). `duration`: a number with a unit (1.5ms). `choice`:
/// one of a few words. `text`: any text; the adapter checks the text. `file`: the absolute path of a user's file;
/// results record a hash of its content.
pub enum NativeType { Boolean = "boolean", Integer = "integer", Bytes = "bytes", Duration = "duration", Choice = "choice", Text = "text", File = "file" }
}

described! {
/// One transport of an adapter with its capabilities. Anything that is not listed is refused before a trial starts.
pub struct Transport {
    /// Unique within the adapter: `udp`, `shm`. `default`: the middleware's default configuration.
    "name" => pub name: &'static str = Default::default(),
    /// How the data must move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`. The
    /// carrier is checked during the trial. `any`: the middleware chooses, and reports show the observed carrier.
    "carrier" => pub carrier: &'static str = Default::default(),
    /// For shared memory: globs of file names under /dev/shm, one of which must be mapped; `SYSV*` for System V.
    "segments" => pub segments: Vec<&'static str> = Default::default(),
    /// 1: all roles in one process; 2: each role in a process of its own.
    "processes" => pub processes: Vec<i32> = vec![1, 2],
    /// Supported patterns.
    "patterns" => pub patterns: Vec<Pattern> = vec![Pattern::PingPong, Pattern::Stream, Pattern::RequestReply],
    /// Why the transport does not support a crowd; empty: the adapter does not offer crowds.
    "patterns_why" => pub patterns_why: &'static str = Default::default(),
    /// The largest number of participants of a crowd that one process can contain.
    "participants_per_process" => pub participants_per_process: usize = 1,
    /// How peers find each other if the middleware has no discovery of its own; empty: it has one.
    "discovery_by" => pub discovery_by: &'static str = Default::default(),
    "receive" => pub receive: Vec<Reception> = vec![Reception::Poll, Reception::Block, Reception::Listen],
    "reliability" => pub reliability: Vec<Reliability> = vec![Reliability::Reliable, Reliability::BestEffort],
    /// false: the adapter's own memory is sent; true: memory that the middleware lends is sent.
    "loan" => pub loan: Vec<bool> = vec![false],
    /// The levels of `loan` at which the transport copies no bytes but passes a pointer or the index of a chunk to the
    /// receiver; empty: the transport always copies. null: the worker is older than this field.
    "hands_over" => pub hands_over: Vec<bool> = Default::default(),
    /// Size of the largest message.
    "max_bytes" => pub max_bytes: usize = 67108864,
    /// How to raise `max_bytes`; empty: no setting raises `max_bytes`.
    "max_bytes_advice" => pub max_bytes_advice: &'static str = Default::default(),
    /// Depth of the deepest history; null: no limit.
    "max_depth" => pub max_depth: Option<u32> = Default::default(),
    /// True if the transport supports a keep-all history.
    "keep_all" => pub keep_all: bool = true,
    /// The transport needs daemons, which `companions` of the adapter lists.
    "companions" => pub companions: bool = false,
    /// The transport listens on every interface, so trials on this machine run in a network namespace with only lo.
    "own_network" => pub own_network: bool = false,
    /// The ping has no pongs and receives the messages that it published itself.
    "alone" => pub alone: bool = false,
    /// Carrier under best effort, if it differs from `carrier`. Does not apply to a native service.
    "best_effort_carrier" => pub best_effort_carrier: &'static str = Default::default(),
    /// Supported message types, octets first.
    "types" => pub types: Vec<MessageType> = vec![MessageType::Octets],
    /// True if the messages of a topic may have different sizes.
    "varying_sizes" => pub varying_sizes: bool = false,
    /// Services of a workload use the middleware's own request and reply.
    "services" => pub services: bool = false,
    /// The largest number of transient-local messages that a subscriber which joins late can receive; 0: volatile only;
    /// null: no limit.
    "max_history" => pub max_history: Option<u32> = Some(0),
    /// Supported levels of security. `protected_by()` of the adapter names the algorithms.
    "security" => pub security: Vec<Security> = vec![Security::None],
    /// Why the transport does not support the other levels; empty: no reason is known.
    "security_why" => pub security_why: &'static str = Default::default(),
    /// With security, peers reject an `intruder`: a peer with a certificate of the authority but no permission.
    "permissions" => pub permissions: bool = false,
    /// The possible processes between the peers. `router` alone: every message passes through the middleware's broker.
    "via" => pub via: Vec<Via> = vec![Via::Direct],
    /// Why the transport does not support the other levels of `via`; empty: the middleware does not have them.
    "via_why" => pub via_why: &'static str = Default::default(),
    /// Name of the format on the network: `rtps`, `rtps-ros2`. Adapters with one wire exchange octets in a pair. Empty:
    /// no other adapter reads these messages.
    "wire" => pub wire: &'static str = Default::default(),
}
}

described! {
/// One of the middleware's own settings. The core refuses an invalid value before the middleware is opened.
pub struct NativeSetting {
    /// Effect of the setting.
    "help" => pub help: &'static str = Default::default(),
    /// The lowest number; in ns for a duration.
    "least" => pub least: Option<i64> = Default::default(),
    /// The highest number; in ns for a duration.
    "most" => pub most: Option<i64> = Default::default(),
    /// For a choice: the words, in the order of the values. For a number: words that are allowed instead of a number.
    "choices" => pub choices: Vec<&'static str> = Default::default(),
    /// The transports that the setting affects; empty: all transports.
    "transports" => pub transports: Vec<&'static str> = Default::default(),
    /// The patterns that the setting affects; empty: all patterns.
    "patterns" => pub patterns: Vec<Pattern> = Default::default(),
    /// The default in words; empty: the help names the default, or there is no default.
    "default" => pub otherwise: &'static str = Default::default(),
    /// In an adapter's source, `text` (the default) means that the type follows from the type of the C++ member.
    "type" => pub kind: NativeType = NativeType::Text,
    /// The allowed values in words. The core sets this field.
    "allowed" => pub allowed: &'static str = "a text",
}
}

described! {
/// The description of an adapter, which its worker prints without opening the middleware.
pub struct Description {
    "protocol" => pub protocol: i32 = 1,
    /// Name of the adapter's folder.
    "name" => pub name: &'static str = Default::default(),
    /// Full name: Eclipse Cyclone DDS.
    "title" => pub title: &'static str = Default::default(),
    /// Version of the loaded library, not of the headers.
    "version" => pub version: &'static str = Default::default(),
    /// Path of the loaded library; empty: no library.
    "library" => pub library: &'static str = Default::default(),
    /// SPDX identifier.
    "licence" => pub licence: &'static str = Default::default(),
    /// The language of the middleware's interface that is measured. Kits for other languages than C++ set it.
    "language" => pub language: WrittenIn = WrittenIn::Cpp,
    /// Name of the adapter that measures the same middleware in the language of its library: `zeromq` for `pyzmq`.
    /// Empty: the adapter is not such a client.
    "client_of" => pub client_of: &'static str = Default::default(),
    /// Name and version of the library that moves a client's messages: `libzmq 4.3.5`. Empty: the file name of
    /// `library`, or else `name`, and `version`.
    "implementation" => pub implementation: &'static str = Default::default(),
    /// true: a raw transport, which serves as baseline; false: a middleware.
    "is_raw_transport" => pub is_raw_transport: bool = Default::default(),
    /// The adapter is for tests of the bench itself and is never part of `all`.
    "bench_only" => pub bench_only: bool = Default::default(),
    /// The transports. The first transport is used if the user names no transport.
    "transports" => pub transports: Vec<Transport> = Default::default(),
    /// True if the middleware has its own request and reply. The core sets this field: true if the adapter has
    /// `client()` and `server()`.
    "request_reply" => pub request_reply: bool = Default::default(),
    /// The kinds of certificate files that the adapter reads.
    "credentials" => pub credentials: Vec<Credential> = Default::default(),
    /// True if the middleware receives on its own threads. They need a processor on which no role polls.
    "own_threads" => pub own_threads: bool = Default::default(),
    /// A `take()` returns after this number of messages, so that the role can check for the stop. If each publisher has
    /// its own queue, the number is per publisher. null: `take()` visits all messages that had arrived at the call. The
    /// core sets this field from the subscriber's class.
    "most_per_take" => pub most_per_take: Option<usize> = Default::default(),
    /// Files that a killed worker may leave: absolute globs (`{scope}` is replaced); for System V: `sysv:*`.
    "residue" => pub residue: Vec<&'static str> = Default::default(),
    /// Every native setting by key; a key that ends in `*` matches every key with the same beginning.
    "native" => pub native: BTreeMap<&'static str, NativeSetting> = Default::default(),
}
}

described! {
/// A daemon that must run while the workers run.
pub struct Companion {
    "name" => pub name: &'static str = Default::default(),
    "argv" => pub argv: Vec<&'static str> = Default::default(),
    /// Variables for the companion and for every worker of the trial.
    "environment" => pub environment: BTreeMap<&'static str, &'static str> = Default::default(),
    /// Regular expression for the line that the daemon prints on stdout or stderr when it is ready.
    "ready_pattern" => pub ready_pattern: &'static str = Default::default(),
    "ready_timeout_s" => pub ready_timeout_s: f64 = 10.0,
}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_of;

    #[test]
    fn every_field_of_a_description_is_written_as_the_schema_has_it() {
        let full = Description { protocol: 20, name: "so \"so\"", title: "so \"so\"", version: "so \"so\"", library: "so \"so\"", licence: "so \"so\"", language: WrittenIn::Rust, client_of: "so \"so\"", implementation: "so \"so\"", is_raw_transport: true, bench_only: true, transports: vec![Transport { name: "so \"so\"", carrier: "so \"so\"", segments: vec!["so \"so\""], processes: vec![2], patterns: vec![Pattern::Stream], patterns_why: "so \"so\"", participants_per_process: 20, discovery_by: "so \"so\"", receive: vec![Reception::Poll], reliability: vec![Reliability::Reliable], loan: vec![true], hands_over: vec![true], max_bytes: 20, max_bytes_advice: "so \"so\"", max_depth: Some(20), keep_all: false, companions: true, own_network: true, alone: true, best_effort_carrier: "so \"so\"", types: vec![MessageType::Tf], varying_sizes: true, services: true, max_history: Some(20), security: vec![Security::Signed], security_why: "so \"so\"", permissions: true, via: vec![Via::Router], via_why: "so \"so\"", wire: "so \"so\"" }], request_reply: true, credentials: vec![Credential::X509], own_threads: true, most_per_take: Some(20), residue: vec!["so \"so\""], native: BTreeMap::from([("so", NativeSetting { help: "so \"so\"", least: Some(20), most: Some(20), choices: vec!["so \"so\""], transports: vec!["so \"so\""], patterns: vec![Pattern::Stream], otherwise: "so \"so\"", kind: NativeType::Integer, allowed: "so \"so\"" })]) };
        assert_eq!(json_of(&full), r#"{"protocol":20,"name":"so \"so\"","title":"so \"so\"","version":"so \"so\"","library":"so \"so\"","licence":"so \"so\"","language":"Rust","client_of":"so \"so\"","implementation":"so \"so\"","is_raw_transport":true,"bench_only":true,"transports":[{"name":"so \"so\"","carrier":"so \"so\"","segments":["so \"so\""],"processes":[2],"patterns":["stream"],"patterns_why":"so \"so\"","participants_per_process":20,"discovery_by":"so \"so\"","receive":["poll"],"reliability":["reliable"],"loan":[true],"hands_over":[true],"max_bytes":20,"max_bytes_advice":"so \"so\"","max_depth":20,"keep_all":false,"companions":true,"own_network":true,"alone":true,"best_effort_carrier":"so \"so\"","types":["tf"],"varying_sizes":true,"services":true,"max_history":20,"security":["signed"],"security_why":"so \"so\"","permissions":true,"via":["router"],"via_why":"so \"so\"","wire":"so \"so\""}],"request_reply":true,"credentials":["x509"],"own_threads":true,"most_per_take":20,"residue":["so \"so\""],"native":{"so":{"help":"so \"so\"","least":20,"most":20,"choices":["so \"so\""],"transports":["so \"so\""],"patterns":["stream"],"default":"so \"so\"","type":"integer","allowed":"so \"so\""}}}"#);
    }

    #[test]
    fn every_field_of_a_companion_is_written_as_the_schema_has_it() {
        let full = Companion { name: "so \"so\"", argv: vec!["so \"so\""], environment: BTreeMap::from([("so", "so \"so\"")]), ready_pattern: "so \"so\"", ready_timeout_s: 2.5 };
        assert_eq!(json_of(&full), r#"{"name":"so \"so\"","argv":["so \"so\""],"environment":{"so":"so \"so\""},"ready_pattern":"so \"so\"","ready_timeout_s":2.5}"#);
    }
}
