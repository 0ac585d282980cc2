//! An adapter that sends what a ROS 2 node over rmw_zenoh_cpp sends, with zenoh's crate and without ROS. README.md lists
//! the zenoh option that each setting sets.

#[path = "../../common/zenoh/mod.rs"]
mod common;
mod frame;
mod names;
mod wire;

use middlemark_adapter::{
    every_pattern, Description, NativeTable, Transport, Via, DEFAULT_CONFIGURATION, MOST_PARTICIPANTS,
};

use common::Native;

middlemark_adapter::worker!(common::Zenoh, request_reply);

fn describe() -> Description {
    let transport = |name, carrier| Transport {
        name,
        carrier,
        varying_sizes: true,
        services: true,
        max_history: None,
        max_depth: Some(100_000), // a ring allocates all its slots at the start, about 300 bytes each
        security_why: "the TLS of zenoh is measured with the adapter zenoh",
        ..Transport::default()
    };
    let linked = |name, carrier| Transport {
        companions: true,
        via: vec![Via::Direct, Via::Router],
        patterns: every_pattern(),
        participants_per_process: MOST_PARTICIPANTS,
        discovery_by: "each session knows the router's address, and gossip introduces the others",
        wire: "ros2-zenoh",
        ..transport(name, carrier)
    };
    let version = zenoh::GIT_VERSION.trim_start_matches('v');
    Description {
        name: "ros2-zenoh",
        title: "ROS 2 on the wire (zenoh)",
        version: version.split('-').next().unwrap_or(version),
        licence: "EPL-2.0 OR Apache-2.0",
        own_threads: true,
        native: native(),
        transports: vec![
            Transport { processes: vec![2], ..linked("tcp", "tcp") },
            Transport {
                processes: vec![1],
                hands_over: vec![false], // even without a loan, the subscriber gets the publisher's buffer
                via_why: "messages within one session do not pass through a router",
                ..transport("intraprocess", "process-memory")
            },
            linked(DEFAULT_CONFIGURATION, "any"),
        ],
        ..Description::default()
    }
}

/// Returns the settings of the adapters for zenoh without those of shared memory and of the router's users.
fn native() -> NativeTable {
    let mut table = Native::table();
    table.retain(|key, setting| setting.transports.is_empty() && *key != "router_users");
    for (key, otherwise) in [("congestion", "block if reliable with keep-all, otherwise drop"), ("express", "false")] {
        table.entry(key).and_modify(|setting| setting.otherwise = otherwise);
    }
    table
}
