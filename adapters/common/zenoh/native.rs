//! The native settings of the adapters for zenoh.

use middlemark_adapter::NativeType;

middlemark_adapter::native_settings! {
    pub struct Native {
        /// block: publish waits for a full link; drop: the message is dropped
        congestion: Option<bool> = None => [
            choices: vec!["drop", "block"], otherwise: "block if reliable, drop if best-effort",
        ],
        /// true: each message is sent at once; false (zenoh's default): messages share a batch
        express: Option<bool> = None => [otherwise: "true for ping-pong and request/reply, false for streams",],
        /// zenoh's priority of every message
        priority: u8 = 4 => [
            choices: vec!["real-time", "interactive-high", "interactive-low", "data-high", "data", "data-low", "background"],
        ],
        /// bytes of the largest batch; a larger message is sent in fragments
        batch_size: Option<u32> = None => [least: Some(256), most: Some(65_535), otherwise: "65535",],
        /// ring: a full channel drops its oldest message; fifo: a full channel blocks zenoh's thread, which is back-pressure
        channel: Option<bool> = None => [
            choices: vec!["fifo", "ring"], otherwise: "ring with a depth, fifo with keep-all",
        ],
        /// messages that a FIFO channel holds under keep-all; the default is zenoh's
        fifo_capacity: usize = 256 => [least: Some(1), most: Some(10_000_000),],
        /// shared memory that each process sends from
        shm_pool_bytes: Option<usize> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 40), transports: vec!["shm"],
            otherwise: "see README",
        ],
        /// smallest message in bytes that is copied into shared memory if it is not loaned; zenoh's default is 3072
        shm_threshold: usize = 1 => [
            kind: NativeType::Bytes, least: Some(1), most: Some(1 << 40), transports: vec!["shm"],
        ],
        /// your own configuration in JSON5 or YAML: see --config
        "config" file: Option<String> = None => [kind: NativeType::File,],
        /// with via router, a session is a client with one link, to the router, or a peer that also listens
        "router_users" joins: Option<bool> = None => [
            choices: vec!["client", "peer"], otherwise: "client, or the mode in --config",
        ],
        /// any path of zenoh's configuration, with '/' between its parts, as JSON5; overrides all other settings
        "config.*" config: Vec<(String, String)> = Vec::new() => [],
    }
}
