//! Measures a ping-pong that uses zenoh directly, as its documentation shows, for comparison with the adapter. It uses
//! one TCP link, and receives as the adapter does with `block`: by a blocking recv() from a channel (here a ring of one
//! message).

use std::net::TcpListener;
use std::time::Duration;

use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Config, Session, Wait};

#[path = "../../bench/rust/direct.rs"]
mod direct;
use direct::{Loop, Result, RoundTrips};

fn main() -> Result<()> {
    let at = || Ok(format!("tcp/{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?));
    direct::run(&Loop { ping, pong }, at)
}

struct Ends {
    publisher: Publisher<'static>,
    messages: Subscriber<RingChannelHandler<Sample>>,
    _session: Session,
}

fn open(way: &str, endpoint: &str, publishes: &'static str, subscribes: &'static str) -> Result<Ends> {
    let mut config = Config::default();
    config.insert_json5("scouting/multicast/enabled", "false")?;
    config.insert_json5("scouting/gossip/enabled", "false")?;
    config.insert_json5("transport/shared_memory/enabled", "false")?;
    config.insert_json5("listen/endpoints", "[]")?;
    config.insert_json5("connect/retry", "{ period_init_ms: 10 }")?;
    config.insert_json5(&format!("{way}/endpoints"), &format!("[\"{endpoint}\"]"))?;
    let session = zenoh::open(config).wait()?;
    let messages = session.declare_subscriber(subscribes).with(RingChannel::new(1)).wait()?;
    let publisher =
        session.declare_publisher(publishes).congestion_control(CongestionControl::Block).express(true).wait()?;
    Ok(Ends { publisher, messages, _session: session })
}

fn ping(endpoint: &str, bytes: usize, round_trips: RoundTrips) -> Result<()> {
    let ends = open("listen", endpoint, "bench/ping", "bench/pong")?;
    while !ends.publisher.matching_status().wait()?.matching() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(200)); // the pong's publisher may not know this subscriber yet
    round_trips.measure(|_| {
        ends.publisher.put(vec![0x5a_u8; bytes]).wait()?;
        assert_eq!(ends.messages.recv()?.payload().len(), bytes);
        Ok(())
    })
}

fn pong(endpoint: &str, _bytes: usize) -> Result<()> {
    let ends = open("connect", endpoint, "bench/pong", "bench/ping")?;
    loop {
        ends.publisher.put(ends.messages.recv()?.payload().to_bytes().into_owned()).wait()?;
    }
}
