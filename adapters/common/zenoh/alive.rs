//! Counts publishers, subscribers, clients and servers by liveliness tokens. Each of them is declared first, and then
//! declares its token. Both declarations arrive over the same link in this order, so a process that sees the token
//! already knows the publisher or subscriber.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use middlemark_adapter::Topic;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::{Result, Session, Wait};

use crate::wire::Names;

/// The kind of an endpoint. The token contains the kind's name.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    Publisher,
    Subscriber,
    Client,
    Server,
}

/// All tokens of the trial that this session sees, including its own.
pub struct Alive {
    session: Session,
    names: Names,
    tokens: Arc<Mutex<BTreeSet<String>>>,
    parted: Arc<AtomicBool>,
    _watch: Subscriber<()>,
}

impl Alive {
    pub fn watch(session: Session, names: Names) -> Result<Self> {
        let tokens = Arc::new(Mutex::new(BTreeSet::new()));
        let parted = Arc::new(AtomicBool::new(false));
        let (seen, gone) = (tokens.clone(), parted.clone());
        let watch = session
            .liveliness()
            .declare_subscriber(names.tokens())
            .history(true)
            .callback(move |sample| {
                let mut tokens = seen.lock().unwrap();
                let token = sample.key_expr().as_str().to_owned();
                match sample.kind() {
                    SampleKind::Put => tokens.insert(token),
                    SampleKind::Delete => {
                        gone.store(true, Ordering::Relaxed);
                        tokens.remove(&token)
                    }
                };
            })
            .wait()?;
        Ok(Self { session, names, tokens, parted, _watch: watch })
    }

    /// Returns the key of the topic's publishers, subscribers, requests and replies.
    pub fn key(&self, topic: &Topic) -> Result<String> {
        self.names.key(topic)
    }

    /// Returns the token of a new endpoint, to be declared after the endpoint.
    pub fn token(&self, role: Role, topic: &Topic, index: u32) -> Result<String> {
        self.names.token(role, topic, index)
    }

    pub fn declare(&self, token: String) -> Result<LivelinessToken> {
        self.session.liveliness().declare_token(token).wait()
    }

    /// Returns true if a token has disappeared since the last call: the endpoint or the link to it was closed.
    pub fn parted(&self) -> bool {
        self.parted.load(Ordering::Relaxed) && self.parted.swap(false, Ordering::Relaxed)
    }

    pub fn count(&self, role: Role, topic: &str) -> usize {
        let tokens = self.tokens.lock().unwrap();
        tokens.iter().filter(|token| self.names.is_of(token, role, topic)).count()
    }
}
