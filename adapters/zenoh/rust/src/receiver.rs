//! An end that receives: a subscriber, a client's replies or a server's queryable.

use std::sync::Arc;
use std::time::Duration;

use zenoh::handlers::Callback;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::query::{Query, Queryable, Reply};
use zenoh::sample::Sample;
use zenoh::{Result, Wait};

use crate::alive::Role;
use crate::endpoint::Endpoint;
use crate::inbox::{Current, Inbox, Visitor};
use crate::session::Opened;

enum Source {
    Samples(Inbox<Sample>, #[allow(dead_code)] Subscriber<()>),
    Replies(Inbox<Reply>),
    Queries(Inbox<Query>, #[allow(dead_code)] Queryable<()>),
}

pub struct Receiver {
    source: Source,
    topic: String,
    _token: Option<LivelinessToken>,
    session: Arc<Opened>,
}

macro_rules! inbox {
    ($self:ident, $inbox:ident => $what:expr) => {
        match &mut $self.source {
            Source::Samples($inbox, _) => $what,
            Source::Replies($inbox) => $what,
            Source::Queries($inbox, _) => $what,
        }
    };
}

impl Receiver {
    pub fn subscriber(session: &Arc<Opened>, endpoint: &Endpoint) -> Result<Self> {
        let (callback, inbox) = Inbox::open(endpoint, &Current::default());
        let subscriber = session
            .zenoh
            .declare_subscriber(endpoint.topic())
            .with(callback)
            .wait()?;
        Self::new(
            session,
            endpoint,
            Source::Samples(inbox, subscriber),
            Some(Role::Subscriber),
        )
    }

    pub fn replies(session: &Arc<Opened>, endpoint: &Endpoint) -> Result<(Callback<Reply>, Self)> {
        let (callback, inbox) = Inbox::open(endpoint, &Current::default());
        let receiver = Self::new(session, endpoint, Source::Replies(inbox), None)?;
        Ok((callback, receiver))
    }

    pub fn server(
        session: &Arc<Opened>,
        endpoint: &Endpoint,
        asked: &Current<Query>,
    ) -> Result<Self> {
        let (callback, inbox) = Inbox::open(endpoint, asked);
        let queryable = session
            .zenoh
            .declare_queryable(endpoint.topic())
            .with(callback)
            .wait()?;
        Self::new(
            session,
            endpoint,
            Source::Queries(inbox, queryable),
            Some(Role::Server),
        )
    }

    fn new(
        session: &Arc<Opened>,
        endpoint: &Endpoint,
        source: Source,
        role: Option<Role>,
    ) -> Result<Self> {
        let topic = endpoint.topic();
        let token = role
            .map(|role| {
                session
                    .alive
                    .declare(&session.zenoh, role, &topic, endpoint.index)
            })
            .transpose()?;
        Ok(Self {
            source,
            topic,
            _token: token,
            session: session.clone(),
        })
    }

    pub fn take(&mut self, visitor: Visitor) -> usize {
        inbox!(self, inbox => inbox.take(visitor))
    }

    pub fn wait(&mut self, timeout: Duration) -> bool {
        inbox!(self, inbox => inbox.wait(timeout))
    }

    pub fn listen(&mut self, visitor: Option<Visitor>) {
        inbox!(self, inbox => inbox.listen(visitor));
    }

    pub fn publishers_found(&self) -> usize {
        self.session.alive.count(Role::Publisher, &self.topic)
    }
}
