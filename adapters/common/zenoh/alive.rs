//! Counts publishers, subscribers, clients and servers by liveliness tokens. Each of them is declared first, and then
//! declares its token. Both declarations arrive over the same link in this order, so a process that sees the token
//! already knows the publisher or subscriber.
//!
//! In a crowd each session would receive the tokens of all participants, which zenoh itself does not need. So there the
//! tokens exist only if they are a part of the wire.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use middlemark_adapter::{Pattern, Settings, Topic};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::{Result, Session, Wait};

use crate::wire::{Names, SHOWS_ENDPOINTS};

/// The kind of an endpoint. The token contains the kind's name.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    Publisher,
    Subscriber,
    Client,
    Server,
}

/// All tokens of the trial that this session sees, including its own; none if the trial has no tokens.
pub struct Alive {
    session: Session,
    names: Names,
    tokens: Arc<Mutex<BTreeSet<String>>>,
    parted: Arc<AtomicBool>,
    watch: Option<Subscriber<()>>,
}

impl Alive {
    pub fn watch(session: Session, names: Names, settings: &Settings) -> Result<Self> {
        let tokens = Arc::new(Mutex::new(BTreeSet::new()));
        let parted = Arc::new(AtomicBool::new(false));
        if settings.pattern == Pattern::Crowd && !SHOWS_ENDPOINTS {
            return Ok(Self { session, names, tokens, parted, watch: None });
        }
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
        Ok(Self { session, names, tokens, parted, watch: Some(watch) })
    }

    /// Returns the key of the topic's publishers, subscribers, requests and replies.
    pub fn key(&self, topic: &Topic) -> Result<String> {
        self.names.key(topic)
    }

    /// Returns the token of a new endpoint, to be declared after the endpoint.
    pub fn token(&self, role: Role, topic: &Topic, index: u32) -> Result<String> {
        self.names.token(role, topic, index)
    }

    /// Returns `None` if the trial has no tokens.
    pub fn declare(&self, token: String) -> Result<Option<LivelinessToken>> {
        self.watch.as_ref().map(|_| self.session.liveliness().declare_token(token).wait()).transpose()
    }

    /// Returns true if a token has disappeared since the last call: the endpoint or the link to it was closed.
    pub fn parted(&self) -> bool {
        self.parted.load(Ordering::Relaxed) && self.parted.swap(false, Ordering::Relaxed)
    }

    /// Returns `None` if the trial has no tokens.
    pub fn count(&self, role: Role, topic: &str) -> Option<usize> {
        self.watch.as_ref()?;
        let tokens = self.tokens.lock().unwrap();
        Some(tokens.iter().filter(|token| self.names.is_of(token, role, topic)).count())
    }
}
