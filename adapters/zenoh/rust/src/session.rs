//! The session of a worker and the shared memory that it lends.

use std::sync::Arc;

use zenoh::shm::{PosixShmProviderBackend, ShmProvider, ShmProviderBuilder, ShmProviderState};
use zenoh::{Config, Result, Wait};

use crate::alive::Alive;

pub type Pool = ShmProvider<PosixShmProviderBackend>;

pub struct Opened {
    pub zenoh: zenoh::Session,
    pub alive: Alive,
    /// What senders lend from; none: they lend from the heap.
    pub pool: Option<Arc<Pool>>,
    /// Messages are to go through shared memory.
    shared: bool,
}

impl Opened {
    pub fn open(config: Config, scope: &str, shared: bool, pool_bytes: usize) -> Result<Arc<Self>> {
        let zenoh = zenoh::open(config).wait()?;
        let pool = match pool_bytes {
            0 => None,
            bytes => Some(Arc::new(ShmProviderBuilder::default_backend(bytes).wait()?)),
        };
        let alive = Alive::watch(&zenoh, scope)?;
        Ok(Arc::new(Self {
            zenoh,
            alive,
            pool,
            shared,
        }))
    }

    /// zenoh makes the pool that it copies large messages into on a thread of its own, and sends without it until then.
    /// And it falls back to the link alone, and says nothing, when a peer cannot see its shared memory.
    pub fn can_send(&self) -> bool {
        let initializing = matches!(
            self.zenoh.get_shm_provider(),
            ShmProviderState::Initializing(_)
        );
        let seen = || {
            let mut links = self.zenoh.info().transports().wait();
            links.all(|link| link.is_shm())
        };
        !initializing && (!self.shared || seen())
    }
}
