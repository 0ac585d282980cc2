//! The ping-pong that iceoryx2's own examples would write: publish-subscribe with loaned memory, an event for each message
//! to wake who sleeps, reliable, one message of history. Against it the adapter is held.
//!
//! bench_iceoryx2 BYTES ROUND_TRIPS [PING_CPU PONG_CPU] prints the p50 of the round trip in ns.

use std::env;
use std::error::Error;
use std::fs;
use std::process::exit;
use std::time::Duration;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::service::port_factory::{event, publish_subscribe};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Ipc = ipc::Service;
type Messages = publish_subscribe::PortFactory<Ipc, [u8], ()>;
type Events = event::PortFactory<Ipc>;

/// A child that hangs is ended by its alarm.
const DEADLINE_S: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(1);

struct Request {
    bytes: usize,
    round_trips: usize,
    cpus: Option<(usize, usize)>,
    prefix: String,
    root: String,
}

/// One way: a publisher with its notifier.
struct Sending {
    publisher: Publisher<Ipc, [u8], ()>,
    notifier: Notifier<Ipc>,
    service: Messages,
    _events: Events,
}

/// The other way: a subscriber with its listener.
struct Receiving {
    listener: Listener<Ipc>,
    subscriber: Subscriber<Ipc, [u8], ()>,
    service: Messages,
    _events: Events,
}

fn services(node: &Node<Ipc>, name: &str) -> Outcome<(Messages, Events)> {
    let name = ServiceName::new(name)?;
    let messages = node
        .service_builder(&name)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .history_size(0)
        .subscriber_max_buffer_size(1)
        .subscriber_max_borrowed_samples(1)
        .enable_safe_overflow(false)
        .open_or_create()?;
    let events = node.service_builder(&name).event().open_or_create()?;
    Ok((messages, events))
}

impl Sending {
    fn new(node: &Node<Ipc>, name: &str, bytes: usize) -> Outcome<Self> {
        let (service, events) = services(node, name)?;
        let notifier = events.notifier_builder().create()?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        Ok(Self {
            publisher,
            notifier,
            service,
            _events: events,
        })
    }

    fn send(&self, bytes: usize, number: u64) -> Outcome<()> {
        let mut sample = self.publisher.loan_slice_uninit(bytes)?;
        for (place, byte) in sample.payload_mut().iter_mut().zip(number.to_ne_bytes()) {
            place.write(byte);
        }
        // SAFETY: bytes, of which every pattern is a value.
        unsafe { sample.assume_init() }.send()?;
        self.notifier.notify()?;
        Ok(())
    }
}

impl Receiving {
    fn new(node: &Node<Ipc>, name: &str) -> Outcome<Self> {
        let (service, events) = services(node, name)?;
        let listener = events.listener_builder().create()?;
        let subscriber = service.subscriber_builder().create()?;
        Ok(Self {
            listener,
            subscriber,
            service,
            _events: events,
        })
    }

    fn receive(&self) -> Outcome<u64> {
        loop {
            self.listener.timed_wait(|_| (), PATIENCE)?;
            if let Some(sample) = self.subscriber.receive()? {
                let mut number = [0; 8];
                number.copy_from_slice(&sample.payload()[..8]);
                return Ok(u64::from_ne_bytes(number));
            }
        }
    }
}

fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn node(request: &Request) -> Outcome<Node<Ipc>> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    config.global.set_root_path(&Path::new(request.root.as_bytes())?);
    config.global.prefix = FileName::new(request.prefix.as_bytes())?;
    config.global.creation_timeout = Duration::from_secs(10);
    Ok(NodeBuilder::new()
        .config(&config)
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<Ipc>()?)
}

fn found(there: &Sending, back: &Receiving) {
    while there.service.dynamic_config().number_of_subscribers() == 0
        || back.service.dynamic_config().number_of_publishers() == 0
    {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn ping(request: &Request) -> Outcome<()> {
    let node = node(request)?;
    let back = Receiving::new(&node, "pong")?;
    let there = Sending::new(&node, "ping", request.bytes)?;
    found(&there, &back);
    let mut round_trips = Vec::with_capacity(request.round_trips);
    for number in 0..request.round_trips as u64 {
        let begin = now_ns();
        there.send(request.bytes, number)?;
        if back.receive()? != number {
            return Err("another reply than the awaited one".into());
        }
        round_trips.push(now_ns() - begin);
    }
    round_trips.drain(..request.round_trips / 10);
    round_trips.sort_unstable();
    println!("{}", round_trips[round_trips.len() / 2]);
    Ok(())
}

fn pong(request: &Request) -> Outcome<()> {
    let node = node(request)?;
    let back = Receiving::new(&node, "ping")?;
    let there = Sending::new(&node, "pong", request.bytes)?;
    found(&there, &back);
    for _ in 0..request.round_trips {
        let number = back.receive()?;
        there.send(request.bytes, number)?;
    }
    // Until the ping has what was sent last.
    while back.service.dynamic_config().number_of_publishers() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn pin(cpu: usize) {
    // SAFETY: the set is a plain value on the stack.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        if libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) != 0 {
            eprintln!("bench_iceoryx2: processor {cpu} cannot be had");
            exit(1);
        }
    }
}

/// Starts `role` in a process of its own; before anything of iceoryx2 is open in this one.
fn fork(request: &Request, cpu: Option<usize>, role: fn(&Request) -> Outcome<()>) -> i32 {
    // SAFETY: there are no other threads.
    let child = unsafe { libc::fork() };
    if child != 0 {
        return child;
    }
    // SAFETY: plain system calls.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(DEADLINE_S);
    }
    if let Some(cpu) = cpu {
        pin(cpu);
    }
    if let Err(error) = role(request) {
        eprintln!("bench_iceoryx2: {error} ({error:?})");
        exit(1);
    }
    exit(0);
}

/// Ends the other when one has failed.
fn wait_for_both([first, second]: [i32; 2]) -> bool {
    let mut good = true;
    for _ in 0..2 {
        let mut status = 0;
        // SAFETY: they are children of this process, and not reaped elsewhere.
        let ended = unsafe { libc::wait(&mut status) };
        if status != 0 && good {
            good = false;
            let other = if ended == first { second } else { first };
            // SAFETY: it is not reaped yet.
            unsafe { libc::kill(other, libc::SIGKILL) };
        }
    }
    good
}

fn clear(request: &Request) {
    for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&request.prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir_all(&request.root);
}

fn read_arguments() -> Option<Request> {
    let arguments = env::args()
        .skip(1)
        .map(|each| each.parse().ok())
        .collect::<Option<Vec<usize>>>()?;
    let (bytes, round_trips, cpus) = match arguments[..] {
        [bytes, round_trips] => (bytes, round_trips, None),
        [bytes, round_trips, ping, pong] => (bytes, round_trips, Some((ping, pong))),
        _ => return None,
    };
    let own = std::process::id();
    (bytes >= 8 && round_trips > 0).then(|| Request {
        bytes,
        round_trips,
        cpus,
        prefix: format!("mm_bench_{own}_"),
        root: env::temp_dir()
            .join(format!("mm_bench_{own}"))
            .to_string_lossy()
            .into_owned(),
    })
}

fn main() {
    let Some(request) = read_arguments() else {
        eprintln!("bench_iceoryx2 BYTES ROUND_TRIPS [PING_CPU PONG_CPU], of 8 bytes and 1 round trip at least");
        exit(2);
    };
    fs::create_dir(&request.root).expect("a folder of its own");
    let (ping_cpu, pong_cpu) = request.cpus.unzip();
    let children = [fork(&request, pong_cpu, pong), fork(&request, ping_cpu, ping)];
    let good = wait_for_both(children);
    clear(&request);
    exit(if good { 0 } else { 1 });
}
