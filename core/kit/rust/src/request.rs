//! Written by scripts/protocol from src/middlemark/model/protocol.py: change that.
//! core/kit/rust_request.hpp has the same layout.
#![cfg_attr(rustfmt, rustfmt_skip)]

use crate::description::*;
use crate::settings::{Maybe, Text};

/// The settings of one trial. The settings do not change, because an adapter reads them once, when it opens.
#[repr(C)]
pub struct Request {
    pub pattern: Pattern,
    /// One of the names in `Description.transports`.
    pub transport: Text<'static>,
    /// If the topics of a stream differ: reliable if any topic is reliable.
    pub reliability: Reliability,
    /// How the roles will receive. Some middlewares must know this when they open.
    pub reception: Reception,
    /// Keep-last history depth in messages; null: keep-all. If the topics of a stream differ: the largest depth.
    pub depth: Maybe<u32>,
    /// Write into the middleware's own memory instead of the adapter's.
    pub loan: bool,
    /// All roles of the trial run in this process.
    pub one_process: bool,
    /// Size of every message, including the core's header. If the topics of a stream differ: the largest size.
    pub message_bytes: usize,
    /// Type of every message, except in a stream, where each topic has its own type.
    pub kind: MessageType,
    /// Number of publishers of a stream or of clients of request/reply; 1 under ping-pong. At most 65,536, because the
    /// header has 16 bits for the publisher id.
    pub publishers: u32,
    /// Number of subscribers of a stream or of pongs (0: the ping receives its own messages); 1, the server, under
    /// request/reply.
    pub subscribers: u32,
    /// Number of participants of a crowd, each with its own session of the middleware; 1 under the other patterns.
    pub participants: u32,
    /// Number of topics on which each participant of a crowd publishes; 1 under the other patterns.
    pub topics_each: u32,
    pub subscribe: Subscribe,
    /// The largest number of participants of a crowd in one process; 1 under the other patterns.
    pub participants_per_process: usize,
    /// Number of sessions of the middleware in the trial: one for each process, or in a crowd for each participant.
    pub workers: u32,
    /// A DDS domain, or another number by which a middleware separates trials.
    pub domain: i32,
    /// Unique name of the trial, [a-z0-9_]+. The name of every topic, segment or port file begins with this name.
    pub scope: Text<'static>,
    /// Absolute path of a folder for this trial only, shared by its workers and removed afterwards.
    pub scratch: Text<'static>,
    /// The only network interface that the trial may use.
    pub interface: Text<'static>,
    /// The longest time that publish() may block.
    pub write_timeout_ns: u64,
    /// The requested level. The adapter must provide exactly this level.
    pub security: Security,
    /// Absolute path of the folder of certificates and keys: docs/how-to/security.md. Empty at `none`.
    pub certs: Text<'static>,
    /// Whose certificate and key from `certs` this process uses.
    pub identity: Identity,
    /// The processes between the peers. `companions` of the adapter starts the router or the server.
    pub via: Via,
    /// The senders and the receivers of the trial use different adapters, whose transports have one `wire`.
    pub paired: bool,
}
