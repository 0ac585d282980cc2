//! Common code of the programs in adapters/*/bench.rs. `bench_<name> BYTES ROUND_TRIPS [PING-CPU PONG-CPU]` starts itself a
//! second time as the pong, pins both processes, and prints the p50 of the round trip in ns.

use std::error::Error;
use std::process::{exit, Command};
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The two roles of a program. They find each other by `place`, such as an endpoint.
pub struct Loop {
    pub ping: fn(place: &str, bytes: usize, round_trips: RoundTrips) -> Result<()>,
    /// The pong. It runs until it is killed.
    pub pong: fn(place: &str, bytes: usize) -> Result<()>,
}

/// The number of round trips to make, and the time that each took, in ns.
pub struct RoundTrips {
    wanted: usize,
    took: Vec<u128>,
}

impl RoundTrips {
    /// Calls `once` for each round trip, with its number. The first tenth is a warm-up.
    pub fn measure(mut self, mut once: impl FnMut(usize) -> Result<()>) -> Result<()> {
        for number in 0..self.wanted {
            let begin = Instant::now();
            once(number)?;
            self.took.push(begin.elapsed().as_nanos());
        }
        let measured = &mut self.took[self.wanted / 10..];
        measured.sort_unstable();
        println!("{}", measured[measured.len() / 2]);
        Ok(())
    }
}

/// Runs the program. The ping's process calls `at` for the place and passes it to the pong's process.
pub fn run(its: &Loop, at: impl FnOnce() -> Result<String>) -> Result<()> {
    const PONG: &str = "PONG";
    // SAFETY: neither call accesses memory. alarm() ends a hanging process; prctl() ends the pong when the ping ends.
    unsafe {
        libc::alarm(60);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|each| each.parse().ok());
    if let [role, bytes, place, cpu] = &arguments[..] {
        if role == PONG {
            pin(cpu.parse().ok());
            return (its.pong)(place, bytes.parse()?);
        }
    }
    let (Some(bytes @ 8..), Some(wanted @ 1..), 2 | 4) = (number(0), number(1), arguments.len()) else {
        eprintln!("usage: BYTES ROUND_TRIPS [PING-CPU PONG-CPU]   at least 8 bytes and 1 round trip");
        exit(2);
    };
    let place = at()?;
    let pong_cpu = arguments.get(3).map_or("", String::as_str);
    let mut pong = Command::new(std::env::current_exe()?).args([PONG, &arguments[0], &place, pong_cpu]).spawn()?;
    pin(number(2));
    let measured = (its.ping)(&place, bytes, RoundTrips { wanted, took: Vec::with_capacity(wanted) });
    pong.kill()?;
    pong.wait()?;
    measured
}

/// Pins this thread to a processor. Call it before the middleware starts threads, because they inherit the processor.
fn pin(cpu: Option<usize>) {
    let Some(cpu) = cpu else { return };
    // SAFETY: an all-zero cpu_set_t is valid (the empty set), and the call only reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set), 0, "cannot pin to processor {cpu}");
    }
}
