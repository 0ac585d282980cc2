//! The session of a worker and the shared memory that it lends.

use std::sync::Arc;
use std::time::Duration;

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
        if shared {
            make_segments(&zenoh, pool.as_deref());
        }
        let alive = Alive::watch(&zenoh, scope)?;
        Ok(Arc::new(Self {
            zenoh,
            alive,
            pool,
            shared,
        }))
    }

    /// zenoh falls back to the link alone, and says nothing, when a peer cannot see its shared memory.
    pub fn can_send(&self) -> bool {
        !self.shared || {
            let mut links = self.zenoh.info().transports().wait();
            links.all(|link| link.is_shm())
        }
    }
}

/// Has zenoh make now what segments it would make later: the pool that it copies messages into, on a thread of its own
/// (until it is there zenoh sends without), and with the first allocation those that tell of what is allocated.
fn make_segments(zenoh: &zenoh::Session, pool: Option<&Pool>) {
    const PAUSE: Duration = Duration::from_millis(1);
    if let Some(pool) = pool {
        let _ = pool.alloc(1).wait(); // one that fails has made them too
        return;
    }
    loop {
        match zenoh.get_shm_provider() {
            ShmProviderState::Initializing(_) => std::thread::sleep(PAUSE),
            ShmProviderState::Ready(provider) => {
                let _ = provider.alloc(1).wait();
                return;
            }
            _ => return,
        }
    }
}
