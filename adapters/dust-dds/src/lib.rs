//! An adapter for Dust DDS. README.md lists which settings of Dust DDS each setting of a trial sets.

mod ends;
mod transport;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dust_dds::configuration::DustDdsConfigurationBuilder;
use dust_dds::dds_async::domain_participant_factory::DomainParticipantFactoryAsync;
use dust_dds::domain::domain_participant::DomainParticipant;
use dust_dds::domain::domain_participant_factory::DomainParticipantFactory;
use dust_dds::infrastructure::error::DdsError;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::{DataReaderQos, DataWriterQos, QosKind};
use dust_dds::infrastructure::qos_policy::{
    HistoryQosPolicy, HistoryQosPolicyKind, ReliabilityQosPolicy, ReliabilityQosPolicyKind,
};
use dust_dds::infrastructure::status::NO_STATUS;
use dust_dds::infrastructure::time::{Duration as DdsDuration, DurationKind};
use dust_dds::rtps_udp_transport::udp_transport::RtpsUdpTransportParticipantFactory;
use dust_dds::std_runtime::StdRuntime;
use dust_dds::topic_definition::topic::Topic as DdsTopic;
use middlemark_adapter::{
    applied, every_pattern, Adapter, Code, Description, Error, NativeType, OwnSettings, Reception, Result, Settings,
    Topic, Transport, DEFAULT_CONFIGURATION, MOST_PARTICIPANTS,
};

use ends::{Octets, Publisher, Subscriber};
use transport::OneInterface;

middlemark_adapter::worker!(DustDds);

middlemark_adapter::native_settings! {
    pub struct Native {
        /// payload of the largest datagram; a larger message is sent in fragments
        fragment_size: Option<u32> = None => [
            kind: NativeType::Bytes, least: Some(256), most: Some(65_000),
            otherwise: "65000 for udp on loopback, otherwise Dust DDS's 1344",
        ],
        /// SO_RCVBUF of the socket for messages, as far as net.core.rmem_max allows
        udp_receive_buffer_size: Option<u32> = None => [
            kind: NativeType::Bytes, least: Some(4096), most: Some(1 << 30),
            otherwise: "16 MiB for udp, otherwise the system's default",
        ],
        /// how often a participant announces itself
        participant_announcement_interval: Duration = Duration::from_secs(5) => [least: Some(1_000_000),],
    }
}

/// Fragment size in bytes on Ethernet: Dust DDS's default.
const USUAL: u32 = 1344;

/// Fragment size in bytes on loopback: a datagram of nearly 64 KiB.
const ON_LOOPBACK: u32 = 65_000;
/// The most fragments of a message. A reader requests its missing fragments as one set, and panics if the first and the
/// last are further apart.
const MOST_FRAGMENTS: u32 = 256;

/// Returns the size of the largest message in bytes.
const fn largest(fragment_size: u32) -> usize {
    const HEADER: usize = 64; // size of the CDR header, rounded up
    (MOST_FRAGMENTS * fragment_size) as usize - HEADER
}

fn fragment_size(settings: &Settings, native: &Native) -> Result<u32> {
    let on_loopback = settings.ipv4()?.parse::<Ipv4Addr>()?.is_loopback();
    let usual = if on_loopback && !settings.is_default_configuration() { ON_LOOPBACK } else { USUAL };
    Ok(native.fragment_size.unwrap_or(usual))
}

struct DustDds {
    settings: &'static Settings,
    code: Code,
    factory: DomainParticipantFactory<OneInterface>,
    participant: DomainParticipant,
    topics: BTreeMap<String, DdsTopic>,
}

impl Adapter for DustDds {
    type Publisher = Publisher;
    type Subscriber = Subscriber;

    fn describe() -> Description {
        let transport = |name, carrier| Transport {
            name,
            carrier,
            patterns: every_pattern(),
            participants_per_process: MOST_PARTICIPANTS,
            receive: vec![Reception::Block],
            keep_all: false,
            varying_sizes: true,
            wire: "rtps",
            ..Transport::default()
        };
        Description {
            name: "dust-dds",
            title: "Dust DDS",
            version: version_compiled(),
            licence: "Apache-2.0",
            own_threads: true,
            native: Native::table(),
            transports: vec![
                Transport { max_bytes: largest(ON_LOOPBACK), ..transport("udp", "udp") },
                Transport {
                    max_bytes: largest(USUAL),
                    max_bytes_advice: "choose the transport udp, or a larger native.fragment_size",
                    ..transport(DEFAULT_CONFIGURATION, "any")
                },
            ],
            ..Description::default()
        }
    }

    fn check(settings: &'static Settings) -> Result<()> {
        let fragment = fragment_size(settings, &Native::of(settings))?;
        if settings.message_bytes <= largest(fragment) {
            return Ok(());
        }
        let text = format!(
            "dust-dds: {} bytes are more than {MOST_FRAGMENTS} fragments of {fragment}; \
             Dust DDS's reader panics if fragments of such a message are lost",
            settings.message_bytes
        );
        Err(Error::new(text, "choose a larger native.fragment_size (up to 65000), or smaller messages"))
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        let native = Native::of(settings);
        let address: Ipv4Addr = settings.ipv4()?.parse()?;
        let tuned = !settings.is_default_configuration();
        let mut udp = RtpsUdpTransportParticipantFactory::default();
        udp.set_interface_name(Some(settings.interface.to_string()));
        let buffer = native.udp_receive_buffer_size.or(tuned.then_some(16 << 20)).map(|bytes| bytes as usize);
        let fragment = fragment_size(settings, &native)? as usize;
        udp.set_udp_receive_buffer_size(buffer);
        udp.set_fragment_size(fragment).map_err(failed_in("fragment_size"))?;
        let code = Code::default();
        let udp_lines = format!(".set_udp_receive_buffer_size({buffer:?})\n.set_fragment_size({fragment})\n");
        code.add("RtpsUdpTransportParticipantFactory", &udp_lines);
        let builder = DustDdsConfigurationBuilder::new();
        let interval = native.participant_announcement_interval;
        let configuration = applied!(code, "configuration", builder, participant_announcement_interval(interval))
            .build()
            .map_err(failed_in("configuration"))?;
        let transport = OneInterface { udp, multicast: transport::multicast_over(address)? };
        // Like DomainParticipantFactory::get_instance(), but with our transport.
        let made = DomainParticipantFactoryAsync::new(
            StdRuntime::default(),
            application_id().to_ne_bytes(),
            address.octets(),
            transport,
            configuration,
        );
        let factory = DomainParticipantFactory::new(Box::leak(Box::new(made)));
        let participant = factory
            .create_participant(settings.domain, QosKind::Default, NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_participant"))?;
        Ok(Self { settings, code, factory, participant, topics: BTreeMap::new() })
    }

    fn own_settings(&self) -> Option<OwnSettings> {
        self.code.settings()
    }

    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Publisher> {
        let qos = DataWriterQos {
            reliability: self.reliability(topic),
            history: history(topic.depth().map(|depth| depth as usize)),
            ..Default::default()
        };
        self.code.add("writer", &lines_of(&qos.reliability, &qos.history));
        let publisher = self
            .participant
            .create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_publisher"))?;
        let writer = publisher
            .create_datawriter(&self.topic(topic)?, QosKind::Specific(qos), NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_datawriter"))?;
        Ok(Publisher::of(writer, topic))
    }

    fn subscriber(&mut self, topic: &Topic, _index: u32) -> Result<Subscriber> {
        let qos = DataReaderQos {
            reliability: self.reliability(topic),
            // The depth times the number of publishers. With the depth alone, a message of one publisher would replace
            // a message of another.
            history: history(topic.capacity()),
            ..Default::default()
        };
        self.code.add("reader", &lines_of(&qos.reliability, &qos.history));
        let subscriber = self
            .participant
            .create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_subscriber"))?;
        let reader = subscriber
            .create_datareader(&self.topic(topic)?, QosKind::Specific(qos), NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_datareader"))?;
        Subscriber::of(reader).map_err(failed_in("set_listener"))
    }
}

impl DustDds {
    /// Returns the topic, which it creates at the first call: a participant may create each topic only once.
    fn topic(&mut self, topic: &Topic) -> Result<DdsTopic> {
        let name = topic.name.get();
        if let Some(existing) = self.topics.get(name) {
            return Ok(existing.clone());
        }
        let made = self
            .participant
            .create_topic::<Octets>(name, "middlemark::Octets", QosKind::Default, NO_LISTENER, NO_STATUS)
            .map_err(failed_in("create_topic"))?;
        self.topics.insert(name.to_owned(), made.clone());
        Ok(made)
    }

    fn reliability(&self, topic: &Topic) -> ReliabilityQosPolicy {
        let longest = self.settings.write_timeout();
        let longest = DdsDuration::new(longest.as_secs() as i32, longest.subsec_nanos());
        ReliabilityQosPolicy {
            kind: match topic.reliable() {
                true => ReliabilityQosPolicyKind::Reliable,
                false => ReliabilityQosPolicyKind::BestEffort,
            },
            max_blocking_time: DurationKind::Finite(longest),
        }
    }
}

/// Returns a number that no other factory on this host has. It becomes a part of the participants' GUIDs.
fn application_id() -> u32 {
    const PROCESS_BITS: u32 = 22; // Linux's largest process id is 2^22
    static FACTORIES: AtomicU32 = AtomicU32::new(0);
    std::process::id() | FACTORIES.fetch_add(1, Ordering::Relaxed) << PROCESS_BITS
}

impl Drop for DustDds {
    fn drop(&mut self) {
        let _ = self.participant.delete_contained_entities();
        let _ = self.factory.delete_participant(&self.participant);
    }
}

fn history(depth: Option<usize>) -> HistoryQosPolicy {
    let depth = depth.map_or(u32::MAX, |depth| u32::try_from(depth).unwrap_or(u32::MAX));
    HistoryQosPolicy { kind: HistoryQosPolicyKind::KeepLast(depth) }
}

fn lines_of(reliability: &ReliabilityQosPolicy, history: &HistoryQosPolicy) -> String {
    format!("reliability: {reliability:?},\nhistory: {history:?},\n")
}

fn failed_in(call: &'static str) -> impl Fn(DdsError) -> Error {
    move |why| Error::from(format!("dust-dds: {call}: {why:?}"))
}

/// Returns the version of the crate `dust_dds`, from Cargo.lock, because the crate has no constant with its version.
fn version_compiled() -> &'static str {
    let lock = include_str!("../Cargo.lock").split_once("name = \"dust_dds\"\nversion = \"");
    lock.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("0.16")
}
