//! An adapter for Eclipse zenoh. README.md lists the zenoh option that each setting sets.

#[path = "../../common/zenoh/mod.rs"]
mod common;
mod wire;

use middlemark_adapter::{
    every_pattern, Credential, Description, Security, Transport, Via, DEFAULT_CONFIGURATION, MOST_PARTICIPANTS,
};

use common::Native;

middlemark_adapter::worker!(common::Zenoh, request_reply);

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
    let crowd = |transport| Transport {
        patterns: every_pattern(),
        participants_per_process: MOST_PARTICIPANTS,
        discovery_by:
            "each session knows the address of the first session or of the router, and gossip introduces others",
        ..transport
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
            Transport { wire: "zenoh", ..crowd(protected("tcp", "tcp")) },
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
                ..crowd(transport(DEFAULT_CONFIGURATION, "any"))
            },
        ],
        credentials: vec![Credential::X509],
        ..Description::default()
    }
}
