//! The names of topics and endpoints that a ROS 2 node over rmw_zenoh_cpp puts on the network. `frame` has the bytes of
//! messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use middlemark_adapter::{Error, MessageType, Settings, Topic};
use zenoh::handlers::Callback;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{PublisherBuilder, SubscriberBuilder};
use zenoh::query::QueryTarget;
use zenoh::sample::Sample;
use zenoh::{Result, Session, Wait};
use zenoh_ext::{
    AdvancedPublisher, AdvancedPublisherBuilderExt, AdvancedSubscriberBuilderExt, CacheConfig, HistoryConfig,
    MissDetectionConfig, RecoveryConfig,
};

use crate::common::Role;
use crate::names::{is_of, key_of, qos_of, type_of, Endpoint, Node};

pub use crate::frame::{attachment_of_reply, Frame};

/// True: each trial with several processes has a router, which tells the sessions where the others listen.
pub const MEETS_AT_ROUTER: bool = true;
/// True: in the default configuration, sessions have shared memory.
pub const SHARES_BY_DEFAULT: bool = false;
/// True: each endpoint has a liveliness token also in a crowd, because other programs expect it.
pub const SHOWS_ENDPOINTS: bool = true;
/// Which queryables receive a request.
pub const TARGET: QueryTarget = QueryTarget::AllComplete;
/// True: a server declares that it answers every request.
pub const COMPLETE: bool = true;
/// The values, by their path, that differ from zenoh's default configuration: those of rmw_zenoh_cpp's
/// DEFAULT_RMW_ZENOH_SESSION_CONFIG.json5. The user's own file replaces them.
pub const CONFIGURATION: &[(&str, &str)] = &[
    ("scouting/gossip/target", r#"{ router: ["router", "peer"], peer: ["router"] }"#),
    ("scouting/gossip/autoconnect_strategy", r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#),
    ("timestamping/enabled", "{ router: true, peer: true, client: true }"),
    ("queries_default_timeout", "600000"),
    ("routing/router/peers_failover_brokering", "true"),
    ("transport/unicast/open_timeout", "60000"),
    ("transport/unicast/accept_timeout", "60000"),
    ("transport/unicast/accept_pending", "10000"),
    ("transport/unicast/max_sessions", "10000"),
    ("transport/link/tx/lease", "60000"),
    ("transport/link/tx/keep_alive", "2"),
    ("adminspace/enabled", "true"),
];

/// Fails if the adapter cannot measure these settings.
pub fn check(settings: &Settings) -> middlemark_adapter::Result<()> {
    if settings.endpoints.iter().any(|each| each.service && each.content != MessageType::Octets) {
        let text = "ros2-zenoh: services support only octets";
        return Err(Error::new(text, "take type octets, or pattern ping-pong"));
    }
    Ok(())
}

/// Returns whether a publisher waits for a full link, and does not drop the message.
pub fn blocks(topic: &Topic) -> bool {
    topic.service || (topic.reliable() && topic.depth().is_none())
}

/// Returns whether each message is sent at once instead of in a batch.
pub fn express(_settings: &Settings) -> bool {
    false
}

pub type Publisher = AdvancedPublisher<'static>;

/// Declares a publisher. With a history, it keeps its last messages for late joiners, and announces itself to subscribers.
pub fn declare_publisher(builder: PublisherBuilder<'_, 'static>, topic: &Topic) -> Result<Publisher> {
    /// The interval at which a publisher sends the number of its last message, if it has sent one since.
    const HEARTBEAT: Duration = Duration::from_millis(500);
    let builder = builder.advanced();
    let Some(depth) = history_of(topic) else { return builder.wait() };
    let builder = builder.publisher_detection().cache(CacheConfig::default().max_samples(depth));
    match topic.reliable() {
        true => builder.sample_miss_detection(MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT)).wait(),
        false => builder.wait(),
    }
}

/// Returns the declared subscriber, which is undeclared when it is dropped. With a history, it asks each publisher for its
/// last messages.
pub fn declare_subscriber(
    builder: SubscriberBuilder<'_, 'static, Callback<Sample>>,
    topic: &Topic,
) -> Result<Box<dyn Send>> {
    // Not an advanced subscriber, which drops a message if another publisher of the same session sent a later one before.
    let Some(depth) = history_of(topic) else { return Ok(Box::new(builder.wait()?)) };
    let asked = HistoryConfig::default().detect_late_publishers().max_samples(depth);
    let builder = builder.advanced().subscriber_detection().query_timeout(Duration::MAX).history(asked);
    Ok(match topic.reliable() {
        true => Box::new(builder.recovery(RecoveryConfig::default().heartbeat()).wait()?),
        false => Box::new(builder.wait()?),
    })
}

/// Returns how many messages a late joiner gets; `None`: the topic is volatile.
fn history_of(topic: &Topic) -> Option<usize> {
    topic.depth().filter(|_| topic.history > 0).map(|depth| depth as usize)
}

/// The keys of the trial's topics, and the liveliness tokens of their endpoints. All endpoints of a process belong to one
/// node.
pub struct Names {
    node: Node,
    /// The number of the next endpoint; 0 is the node.
    next: AtomicUsize,
    _token: LivelinessToken,
}

impl Names {
    pub fn of(session: &Session, settings: &Settings) -> Result<Self> {
        let node = Node { domain: settings.domain, session: session.zid().to_string(), name: "middlemark".into() };
        let token = session.liveliness().declare_token(node.token()).wait()?;
        Ok(Self { node, next: AtomicUsize::new(1), _token: token })
    }

    /// Returns a key expression of all tokens of the domain.
    pub fn tokens(&self) -> String {
        format!("@ros2_lv/{}/**", self.node.domain)
    }

    pub fn key(&self, topic: &Topic) -> Result<String> {
        Ok(key_of(self.node.domain, &topic.name, type_of(topic)))
    }

    pub fn token(&self, role: Role, topic: &Topic, _index: u32) -> Result<String> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(Endpoint { node: &self.node, number, role, topic: &topic.name, of: type_of(topic) }.token(&qos_of(topic)))
    }

    /// Returns whether the token is that of an endpoint of this topic in this role.
    pub fn is_of(&self, token: &str, role: Role, topic: &str) -> bool {
        is_of(token, role, topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_waits_only_if_it_is_reliable_and_keeps_all() {
        // SAFETY: all members are numbers, enumerations with a value 0, or empty lists.
        let mut topic: Topic = unsafe { std::mem::zeroed() };
        assert!(topic.depth().is_none() && blocks(&topic));
        topic.reliability = middlemark_adapter::Reliability::BestEffort;
        assert!(!blocks(&topic));
        topic.service = true;
        assert!(blocks(&topic));
    }
}
