//! An adapter for RustDDS. README.md lists the RustDDS option that each setting sets.

mod ends;
mod octets;
mod peers;

use std::net::Ipv4Addr;
use std::sync::Arc;

use middlemark_adapter::{
    applied, every_pattern, Adapter, Code, Description, Error, NativeType, OwnSettings, Pattern, Reception, Result,
    Settings, Topic, Transport, DEFAULT_CONFIGURATION, MOST_PARTICIPANTS,
};
use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{DomainParticipant, DomainParticipantBuilder, QosPolicies, QosPolicyBuilder, TopicKind};

use ends::{Publisher, Subscriber};
use peers::Peers;

middlemark_adapter::worker!(RustDds);

middlemark_adapter::native_settings! {
    pub struct Native {
        /// SO_RCVBUF of each of a participant's four sockets that receive, as far as net.core.rmem_max allows
        socket_receive_buffer_size: Option<u32> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 30), otherwise: "8MiB, RustDDS's default",
        ],
        /// SO_SNDBUF of the sockets that send, as far as net.core.wmem_max allows
        socket_send_buffer_size: Option<u32> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 30), otherwise: "8MiB, RustDDS's default",
        ],
        /// resource_limits of a writer: unacknowledged messages of a reliable writer before it blocks
        writer_max_samples: Option<u32> = None => [
            least: Some(2), most: Some(1_000_000), otherwise: "8192, RustDDS's default, or what fits in 256 MiB",
        ],
        /// a best-effort publish waits while a socket is full, instead of dropping the message
        best_effort_may_block: bool = false => [],
    }
}

struct RustDds {
    settings: &'static Settings,
    native: Native,
    code: Code,
    writes: Participant,
    /// A copy of `writes`, or on loopback a second participant if the process reads its own topics.
    reads: Participant,
}

#[derive(Clone)]
struct Participant {
    dds: DomainParticipant,
    peers: Arc<Peers>,
}

/// Over 127.0.0.1 a participant announces itself to this number of participants of the host.
const LOCAL_PARTICIPANTS: u32 = 12;

impl Adapter for RustDds {
    type Publisher = Publisher;
    type Subscriber = Subscriber;

    fn describe() -> Description {
        let transport = |name, carrier| Transport {
            name,
            carrier,
            patterns: every_pattern(),
            participants_per_process: MOST_PARTICIPANTS,
            receive: vec![Reception::Block, Reception::Poll],
            keep_all: false, // a message is acknowledged on arrival, but dropped if it is not taken in time
            max_bytes: 4 << 20,
            max_bytes_advice:
                "fragments that a socket's buffer cannot hold are sent again at only 0.8 MB/s: see README",
            varying_sizes: true,
            wire: "rtps",
            ..Transport::default()
        };
        Description {
            name: "rustdds",
            title: "RustDDS",
            version: version_compiled(),
            licence: "Apache-2.0",
            own_threads: true,
            native: Native::table(),
            transports: vec![transport("udp", "udp"), transport(DEFAULT_CONFIGURATION, "any")],
            ..Description::default()
        }
    }

    fn check(settings: &'static Settings) -> Result<()> {
        let address: Ipv4Addr = settings.ipv4()?.parse()?;
        if address.is_loopback() && settings.workers > LOCAL_PARTICIPANTS {
            return Err(too_many(settings));
        }
        Ok(())
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        let native = Native::of(settings);
        let address: Ipv4Addr = settings.ipv4()?.parse()?;
        let code = Code::default();
        let writes = Participant::open(settings, &native, address, &code)?;
        // A participant finds its own readers only by its own multicast, which does not exist on loopback.
        let to_itself = settings.endpoints.iter().any(|topic| topic.publishers_here > 0 && topic.subscribers_here > 0);
        let apart = address.is_loopback() && to_itself;
        let reads = if apart { Participant::open(settings, &native, address, &code)? } else { writes.clone() };
        Ok(Self { settings, native, code, writes, reads })
    }

    fn own_settings(&self) -> Option<OwnSettings> {
        self.code.settings()
    }

    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Publisher> {
        let qos = self.writer_qos(topic);
        let Participant { dds, peers } = &self.writes;
        let writer = dds.create_publisher(&qos)?.create_datawriter_no_key(&self.writes.topic(topic, &qos)?, None)?;
        Ok(Publisher::of(writer, topic, self.native.best_effort_may_block, peers.clone()))
    }

    fn subscriber(&mut self, topic: &Topic, _index: u32) -> Result<Subscriber> {
        // The history has room for `depth` messages of each publisher, so the messages of one publisher do not replace
        // those of another.
        let qos = self.qos(topic, "reader", topic.capacity()).build();
        let Participant { dds, peers } = &self.reads;
        let at = self.reads.topic(topic, &qos)?;
        let reader = dds.create_subscriber(&qos)?.create_simple_datareader_no_key(&at, None)?;
        let blocks = self.settings.reception == Reception::Block;
        Ok(Subscriber::of(reader, topic, blocks, peers.clone())?)
    }
}

impl Participant {
    fn open(settings: &Settings, native: &Native, address: Ipv4Addr, code: &Code) -> Result<Self> {
        let mut builder = DomainParticipantBuilder::new(u16::try_from(settings.domain)?).with_only_networks([address]);
        builder = applied!(code, "participant", builder, same_host_loopback(address.is_loopback()));
        if let Some(bytes) = native.socket_receive_buffer_size {
            builder = applied!(code, "participant", builder, socket_receive_buffer_size(bytes as usize));
        }
        if let Some(bytes) = native.socket_send_buffer_size {
            builder = applied!(code, "participant", builder, socket_send_buffer_size(bytes as usize));
        }
        let dds = builder.build()?;
        if address.is_loopback() && u32::from(dds.participant_id()) >= LOCAL_PARTICIPANTS {
            return Err(too_many(settings));
        }
        let peers = Arc::new(Peers::of(dds.status_listener()));
        Ok(Self { dds, peers })
    }

    fn topic(&self, topic: &Topic, qos: &QosPolicies) -> Result<rustdds::Topic> {
        let (name, type_name) = (topic.name.to_string(), octets::TYPE_NAME.to_owned());
        Ok(self.dds.create_topic(name, type_name, qos, TopicKind::NoKey)?)
    }
}

fn too_many(settings: &Settings) -> Error {
    let (kind, advice) = match settings.pattern {
        Pattern::Crowd => {
            ("participants with the newcomer", "measure fewer participants: RustDDS has no setting for it")
        }
        _ => ("processes", "use fewer processes, or an interface with multicast"),
    };
    let text = format!(
        "rustdds: on loopback only {LOCAL_PARTICIPANTS} participants find each other, but the trial has {} {kind}",
        settings.workers
    );
    Error::new(text, advice)
}

impl RustDds {
    fn qos(&self, topic: &Topic, end: &str, depth: Option<usize>) -> QosPolicyBuilder {
        let reliability = match topic.reliable() {
            true => Reliability::Reliable { max_blocking_time: self.settings.write_timeout().into() },
            false => Reliability::BestEffort,
        };
        let depth = depth.map_or(i32::MAX, |depth| i32::try_from(depth).unwrap_or(i32::MAX));
        applied!(
            self.code,
            end,
            QosPolicyBuilder::new(),
            reliability(reliability),
            durability(Durability::Volatile),
            history(History::KeepLast { depth }),
        )
    }

    /// Returns a writer's QoS. `max_samples` limits the number of unacknowledged messages. RustDDS's default does not
    /// depend on their size, so large messages get a lower limit.
    fn writer_qos(&self, topic: &Topic) -> QosPolicies {
        const USUAL: usize = 8192;
        const MOST_BYTES: usize = 256 << 20;
        let qos = self.qos(topic, "writer", topic.depth().map(|depth| depth as usize));
        let fits = (MOST_BYTES / topic.message_bytes).max(4);
        match self.native.writer_max_samples.or((fits < USUAL).then_some(fits as u32)) {
            None => qos.build(),
            Some(most) => {
                let most = most as i32;
                let limits = ResourceLimits { max_samples: most, max_instances: 1, max_samples_per_instance: most };
                applied!(self.code, "writer", qos, resource_limits(limits)).build()
            }
        }
    }
}

/// Returns the version of the crate `rustdds` from Cargo.lock, because the crate has no constant for it.
fn version_compiled() -> &'static str {
    let lock = include_str!("../Cargo.lock").split_once("name = \"rustdds\"\nversion = \"");
    lock.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("0.15")
}
