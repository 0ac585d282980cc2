//! An end that sends: a publisher, a client's querier or a server's answers.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use zenoh::bytes::ZBytes;
use zenoh::handlers::Callback;
use zenoh::key_expr::KeyExpr;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Publisher;
use zenoh::query::{ConsolidationMode, Querier, Query, Reply};
use zenoh::{Result, Wait};

use crate::alive::Role;
use crate::endpoint::Endpoint;
use crate::inbox::Current;
use crate::outgoing::Outgoing;
use crate::session::Opened;

enum Route {
    Topic(Publisher<'static>),
    Requests(Querier<'static>, Callback<Reply>),
    Replies {
        asked: Current<Query>,
        key: KeyExpr<'static>,
        express: bool,
    },
}

pub struct Sender {
    route: Route,
    outgoing: Outgoing,
    topic: String,
    patience: Duration,
    error: Option<String>,
    // Declared after the route and dropped with it.
    _token: Option<LivelinessToken>,
    session: Arc<Opened>,
}

impl Sender {
    pub fn publisher(session: &Arc<Opened>, endpoint: &Endpoint) -> Result<Self> {
        let publisher = session
            .zenoh
            .declare_publisher(endpoint.topic())
            .reliability(endpoint.reliability())
            .congestion_control(endpoint.congestion())
            .priority(endpoint.priority())
            .express(endpoint.express)
            .wait()?;
        Self::new(
            session,
            endpoint,
            Route::Topic(publisher),
            Some(Role::Publisher),
        )
    }

    /// Replies come as they are made: consolidating them would hold the reply back until the query has ended.
    pub fn client(
        session: &Arc<Opened>,
        endpoint: &Endpoint,
        replies: Callback<Reply>,
    ) -> Result<Self> {
        let querier = session
            .zenoh
            .declare_querier(endpoint.topic())
            .congestion_control(endpoint.congestion())
            .priority(endpoint.priority())
            .express(endpoint.express)
            .consolidation(ConsolidationMode::None)
            .wait()?;
        Self::new(
            session,
            endpoint,
            Route::Requests(querier, replies),
            Some(Role::Client),
        )
    }

    pub fn server(
        session: &Arc<Opened>,
        endpoint: &Endpoint,
        asked: Current<Query>,
    ) -> Result<Self> {
        let route = Route::Replies {
            asked,
            key: KeyExpr::try_from(endpoint.topic())?,
            express: endpoint.express,
        };
        Self::new(session, endpoint, route, None)
    }

    fn new(
        session: &Arc<Opened>,
        endpoint: &Endpoint,
        route: Route,
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
            route,
            outgoing: Outgoing::new(endpoint.bytes, session.pool.clone()),
            topic,
            // Shorter: a wait for memory alone must not be taken for a link that was full for too long.
            patience: endpoint.write_timeout() * 4 / 5,
            error: None,
            _token: token,
            session: session.clone(),
        })
    }

    pub fn place(&mut self) -> *mut u8 {
        self.outgoing.place()
    }

    /// Memory for the next message is found afterwards: a pool with nothing free is back-pressure here.
    pub fn send(&mut self) -> bool {
        let sent = match self.outgoing.written() {
            Some(payload) => self.give(payload),
            None => Err("there was no memory to write in".into()),
        };
        if self.outgoing.is_lent() {
            self.outgoing.reserve(self.patience);
        }
        sent.map_err(|error| self.error = Some(error.to_string()))
            .is_ok()
    }

    fn give(&self, payload: ZBytes) -> Result<()> {
        match &self.route {
            Route::Topic(publisher) => publisher.put(payload).wait(),
            Route::Requests(querier, replies) => {
                querier.get().payload(payload).with(replies.clone()).wait()
            }
            Route::Replies {
                asked,
                key,
                express,
            } => {
                // SAFETY: it is set for the length of a visit, and the visitor is who calls here.
                let Some(query) = (unsafe { asked.load(Ordering::Acquire).as_ref() }) else {
                    return Err("no request is being visited".into());
                };
                query.reply(key, payload).express(*express).wait()
            }
        }
    }

    /// Tokens tell how many peers there are; zenoh's own matching tells that it would send to one.
    pub fn matched(&self) -> usize {
        if !self.session.can_send() {
            return 0;
        }
        let (status, role) = match &self.route {
            Route::Topic(publisher) => (publisher.matching_status().wait(), Role::Subscriber),
            Route::Requests(querier, _) => (querier.matching_status().wait(), Role::Server),
            Route::Replies { .. } => return self.session.alive.count(Role::Client, &self.topic),
        };
        match status {
            Ok(status) if status.matching() => self.session.alive.count(role, &self.topic),
            _ => 0,
        }
    }

    pub fn error(&self) -> &str {
        self.error.as_deref().unwrap_or_default()
    }
}
