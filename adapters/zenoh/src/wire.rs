//! The names and bytes that the adapter zenoh puts on the network: topics under their own names, messages as they are.

use middlemark_adapter::{Pattern, Settings, Topic};
use zenoh::bytes::ZBytes;
use zenoh::handlers::Callback;
use zenoh::pubsub::{PublisherBuilder, SubscriberBuilder};
use zenoh::query::{Query, QueryTarget};
use zenoh::sample::Sample;
use zenoh::{Result, Session, Wait};

use crate::common::Role;

/// True: each trial with several processes has a router, which tells the sessions where the others listen.
pub const MEETS_AT_ROUTER: bool = false;
/// True: in the default configuration, sessions have shared memory.
pub const SHARES_BY_DEFAULT: bool = true;
/// True: each endpoint has a liveliness token also in a crowd, because other programs expect it.
pub const SHOWS_ENDPOINTS: bool = false;
/// Which queryables receive a request.
pub const TARGET: QueryTarget = QueryTarget::BestMatching;
/// True: a server declares that it answers every request.
pub const COMPLETE: bool = false;
/// The values, by their path, that differ from zenoh's default configuration. The user's own file replaces them.
pub const CONFIGURATION: &[(&str, &str)] = &[];

/// Fails if the adapter cannot measure these settings.
pub fn check(_settings: &Settings) -> middlemark_adapter::Result<()> {
    Ok(())
}

/// Returns whether a publisher waits for a full link, and does not drop the message.
pub fn blocks(topic: &Topic) -> bool {
    topic.reliable()
}

/// Returns whether each message is sent at once instead of in a batch. Round trips are then shorter, but a stream would
/// have a tenth of its rate.
pub fn express(settings: &Settings) -> bool {
    settings.pattern != Pattern::Stream && !settings.is_default_configuration()
}

pub type Publisher = zenoh::pubsub::Publisher<'static>;

pub fn declare_publisher(builder: PublisherBuilder<'_, 'static>, _topic: &Topic) -> Result<Publisher> {
    builder.wait()
}

/// Returns the declared subscriber, which is undeclared when it is dropped.
pub fn declare_subscriber(
    builder: SubscriberBuilder<'_, 'static, Callback<Sample>>,
    _topic: &Topic,
) -> Result<Box<dyn Send>> {
    Ok(Box::new(builder.wait()?))
}

/// The keys of the trial's topics, and the liveliness tokens of their endpoints.
pub struct Names {
    scope: String,
}

impl Names {
    pub fn of(_session: &Session, settings: &Settings) -> Result<Self> {
        Ok(Self { scope: settings.scope.to_string() })
    }

    /// Returns a key expression of all tokens of the trial.
    pub fn tokens(&self) -> String {
        format!("{}/alive/**", self.scope)
    }

    pub fn key(&self, topic: &Topic) -> Result<String> {
        Ok(topic.name.to_string())
    }

    pub fn token(&self, role: Role, topic: &Topic, index: u32) -> Result<String> {
        Ok(format!("{}{index}", self.prefix(role, &topic.name)))
    }

    /// Returns whether the token is that of an endpoint of this topic in this role.
    pub fn is_of(&self, token: &str, role: Role, topic: &str) -> bool {
        token.starts_with(&self.prefix(role, topic))
    }

    fn prefix(&self, role: Role, topic: &str) -> String {
        format!("{}/alive/{role:?}/{topic}/", self.scope)
    }
}

/// The bytes around the messages of an endpoint: none.
pub struct Frame;

impl Frame {
    pub fn reading(_topic: &Topic) -> Self {
        Self
    }

    /// `token`: the liveliness token of the publisher or client.
    pub fn writing(_topic: &Topic, _token: &str) -> Self {
        Self
    }

    /// Returns the number of bytes before each message.
    pub fn bytes(&self) -> usize {
        0
    }

    /// Returns the bytes before a message of this size.
    pub fn head(&self, _message_bytes: usize) -> [u8; 0] {
        []
    }

    /// Returns the attachment of the next message or request.
    pub fn attachment(&mut self) -> Option<ZBytes> {
        None
    }

    /// Returns the message in a payload; `None` if the payload or its attachment is in another format.
    pub fn message<'a>(&self, payload: &'a [u8], _attachment: Option<&ZBytes>) -> Option<&'a [u8]> {
        Some(payload)
    }
}

/// Returns the attachment of the reply to a request.
pub fn attachment_of_reply(_request: &Query) -> Option<ZBytes> {
    None
}
