//! Written by scripts/protocol from src/middlemark/model/protocol.py: change that.
//! core/kit/rust_request.hpp has the same layout.
#![cfg_attr(rustfmt, rustfmt_skip)]

use crate::description::*;
use crate::settings::{Maybe, Text};

/// One trial's request. Frozen: an adapter reads it once, when it opens.
#[repr(C)]
pub struct Request {
    pub pattern: Pattern,
    /// One of the names in `Description.transports`.
    pub transport: Text<'static>,
    /// Of a stream whose topics differ: reliable where any of them is.
    pub reliability: Reliability,
    /// How the roles will receive; some middlewares must know when they open.
    pub reception: Reception,
    /// Keep-last history depth in messages; null is keep-all. Of a stream whose topics differ the deepest of them.
    pub depth: Maybe<u32>,
    /// Write into the middleware's own memory instead of the adapter's.
    pub loan: bool,
    /// All roles of the trial live in this process.
    pub one_process: bool,
    /// Size of every message, the core's header included. Of a stream whose topics differ the largest of them.
    pub message_bytes: usize,
    /// Of every message; of a stream whose topics differ each has its own.
    pub kind: MessageType,
    /// Publishers of a stream, clients of request/reply; 1 under ping-pong. More would not fit the header.
    pub publishers: u32,
    /// Of a stream; pongs of a ping-pong (0: the ping is alone); 1, the server, under request/reply.
    pub subscribers: u32,
    /// Processes of the trial that open the middleware.
    pub workers: u32,
    /// A DDS domain, or anything else that separates trials.
    pub domain: i32,
    /// Unique for the trial, [a-z0-9_]+: every name of topic, segment or port file begins with it.
    pub scope: Text<'static>,
    /// Absolute path of a folder of the trial's own, shared by its workers, removed afterwards.
    pub scratch: Text<'static>,
    /// Network interface the traffic keeps to.
    pub interface: Text<'static>,
    /// The longest a publish() may block.
    pub write_timeout_ns: u64,
    /// The level asked for, no less and no more.
    pub security: Security,
    /// Absolute path of the set of certificates and keys: docs/security.md. Empty at `none`.
    pub certs: Text<'static>,
    /// Of the set: this process's.
    pub identity: Identity,
}
