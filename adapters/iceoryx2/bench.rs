//! Measures a ping-pong that is written like iceoryx2's own examples: publish-subscribe with loaned memory, reliable,
//! with a buffer of one message. An event for each message wakes the receiver. README.md compares the adapter with this
//! program.

use std::fs;
use std::time::Duration;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::service::port_factory::{event, publish_subscribe};

#[path = "../../bench/rust/direct.rs"]
mod direct;
use direct::{Loop, Result, RoundTrips};

type Ipc = ipc::Service;
type Messages = publish_subscribe::PortFactory<Ipc, [u8], ()>;

/// Creates a folder for iceoryx2's files, measures in it, and removes all files. The name of the folder is also the
/// prefix of the files in /dev/shm.
fn main() -> Result<()> {
    let prefix = format!("mm_bench_{}_", std::process::id());
    let root = std::env::temp_dir().join(&prefix);
    let made = root.to_string_lossy().into_owned();
    let measured =
        direct::run(&Loop { ping, pong }, || fs::create_dir(&made).map(|()| made.clone()).map_err(Into::into));
    for entry in fs::read_dir("/dev/shm")?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            fs::remove_file(entry.path())?;
        }
    }
    let _ = fs::remove_dir_all(root);
    measured
}

/// The ports of a process: a publisher with its notifier, and a subscriber with its listener.
struct Ends {
    publisher: Publisher<Ipc, [u8], ()>,
    notifier: Notifier<Ipc>,
    subscriber: Subscriber<Ipc, [u8], ()>,
    listener: Listener<Ipc>,
    _node: Node<Ipc>,
}

fn services(node: &Node<Ipc>, name: &str) -> Result<(Messages, event::PortFactory<Ipc>)> {
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
    Ok((messages, node.service_builder(&name).event().open_or_create()?))
}

impl Ends {
    /// Opens the ports, and waits until the other process has opened its ports.
    fn open(root: &str, bytes: usize, sends: &str, receives: &str) -> Result<Self> {
        set_log_level(LogLevel::Error);
        let mut config = Config::default();
        config.global.set_root_path(&Path::new(root.as_bytes())?);
        config.global.prefix = FileName::new(root.rsplit('/').next().unwrap_or_default().as_bytes())?;
        config.global.creation_timeout = Duration::from_secs(10);
        let node = NodeBuilder::new().config(&config).signal_handling_mode(SignalHandlingMode::Disabled).create()?;
        let (incoming, incoming_events) = services(&node, receives)?;
        let listener = incoming_events.listener_builder().create()?;
        let subscriber = incoming.subscriber_builder().create()?;
        let (outgoing, outgoing_events) = services(&node, sends)?;
        let notifier = outgoing_events.notifier_builder().create()?;
        let publisher = outgoing
            .publisher_builder()
            .initial_max_slice_len(bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        while outgoing.dynamic_config().number_of_subscribers() == 0
            || incoming.dynamic_config().number_of_publishers() == 0
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Self { publisher, notifier, subscriber, listener, _node: node })
    }

    fn send(&self, bytes: usize, number: u64) -> Result<()> {
        let mut sample = self.publisher.loan_slice_uninit(bytes)?;
        for (place, byte) in sample.payload_mut().iter_mut().zip(number.to_ne_bytes()) {
            place.write(byte);
        }
        // SAFETY: every bit pattern of a byte is a valid value.
        unsafe { sample.assume_init() }.send()?;
        self.notifier.notify()?;
        Ok(())
    }

    fn receive(&self) -> Result<u64> {
        loop {
            self.listener.timed_wait(|_| (), Duration::from_secs(1))?;
            if let Some(sample) = self.subscriber.receive()? {
                return Ok(u64::from_ne_bytes(sample.payload()[..8].try_into()?));
            }
        }
    }
}

fn ping(root: &str, bytes: usize, round_trips: RoundTrips) -> Result<()> {
    let ends = Ends::open(root, bytes, "ping", "pong")?;
    round_trips.measure(|number| {
        ends.send(bytes, number as u64)?;
        assert_eq!(ends.receive()?, number as u64, "the reply belongs to another message");
        Ok(())
    })
}

fn pong(root: &str, bytes: usize) -> Result<()> {
    let ends = Ends::open(root, bytes, "pong", "ping")?;
    loop {
        ends.send(bytes, ends.receive()?)?;
    }
}
