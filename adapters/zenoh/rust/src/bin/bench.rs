//! A ping-pong written straight against zenoh, as its own documentation would write it: what the adapter is held
//! against. It receives as the adapter does under `block`: a blocking recv() of a channel, here a ring of one, over one
//! TCP link.
//!
//! bench_zenoh BYTES ROUND_TRIPS [PING-CPU PONG-CPU] prints the p50 of the round trip in ns.

use std::net::TcpListener;
use std::process::{exit, Command};
use std::time::{Duration, Instant};

use zenoh::handlers::RingChannel;
use zenoh::qos::CongestionControl;
use zenoh::{Config, Result, Session, Wait};

const PONG: &str = "PONG";

fn main() -> Result<()> {
    // SAFETY: neither touches memory.
    unsafe {
        libc::alarm(60);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, endpoint, cpu] = &arguments[..] {
        if role == PONG {
            return pong(endpoint, cpu);
        }
    }
    let (bytes, round_trips) = match (number(&arguments, 0), number(&arguments, 1)) {
        (Some(bytes), Some(round_trips)) if bytes > 0 && round_trips > 0 => (bytes, round_trips),
        _ => {
            eprintln!("usage: bench_zenoh BYTES ROUND_TRIPS [PING-CPU PONG-CPU]");
            exit(2);
        }
    };
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let endpoint = format!("tcp/127.0.0.1:{port}");
    let cpu = |place: usize| arguments.get(place).cloned().unwrap_or_default();
    let mut child = Command::new(std::env::current_exe()?)
        .args([PONG, &endpoint, &cpu(3)])
        .spawn()?;
    let median = ping(&endpoint, &cpu(2), bytes, round_trips);
    child.kill()?;
    child.wait()?;
    println!("{}", median?);
    Ok(())
}

fn number(arguments: &[String], place: usize) -> Option<usize> {
    arguments.get(place)?.parse().ok()
}

fn open(way: &str, endpoint: &str) -> Result<Session> {
    let mut config = Config::default();
    config.insert_json5("scouting/multicast/enabled", "false")?;
    config.insert_json5("scouting/gossip/enabled", "false")?;
    config.insert_json5("transport/shared_memory/enabled", "false")?;
    config.insert_json5("listen/endpoints", "[]")?;
    config.insert_json5("connect/retry", "{ period_init_ms: 10 }")?;
    config.insert_json5(&format!("{way}/endpoints"), &format!("[\"{endpoint}\"]"))?;
    zenoh::open(config).wait()
}

fn ping(endpoint: &str, cpu: &str, bytes: usize, round_trips: usize) -> Result<u128> {
    pin(cpu);
    let session = open("listen", endpoint)?;
    let replies = session
        .declare_subscriber("bench/pong")
        .with(RingChannel::new(1))
        .wait()?;
    let publisher = session
        .declare_publisher("bench/ping")
        .congestion_control(CongestionControl::Block)
        .express(true)
        .wait()?;
    while !publisher.matching_status().wait()?.matching() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(200)); // the pong's publisher may not know of us yet
    let mut took = Vec::with_capacity(round_trips);
    for _ in 0..round_trips {
        let payload = vec![0x5a_u8; bytes];
        let begin = Instant::now();
        publisher.put(payload).wait()?;
        let reply = replies.recv()?;
        took.push(begin.elapsed().as_nanos());
        assert_eq!(reply.payload().len(), bytes);
    }
    let measured = &mut took[round_trips / 10..];
    measured.sort_unstable();
    Ok(measured[measured.len() / 2])
}

fn pong(endpoint: &str, cpu: &str) -> Result<()> {
    pin(cpu);
    let session = open("connect", endpoint)?;
    let publisher = session
        .declare_publisher("bench/pong")
        .congestion_control(CongestionControl::Block)
        .express(true)
        .wait()?;
    let messages = session
        .declare_subscriber("bench/ping")
        .with(RingChannel::new(1))
        .wait()?;
    loop {
        let message = messages.recv()?;
        publisher
            .put(message.payload().to_bytes().into_owned())
            .wait()?;
    }
}

/// Before zenoh starts its threads, which inherit it.
fn pin(cpu: &str) {
    if let Ok(cpu) = cpu.parse() {
        // SAFETY: a zeroed set is an empty one.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
        }
    }
}
