//! The memory that the next message is written in. zenoh takes a payload for good, so each message has a new one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zenoh::bytes::ZBytes;
use zenoh::shm::{GarbageCollect, ZShmMut};
use zenoh::Wait;

use crate::session::Pool;

enum Memory {
    Heap(Vec<u8>),
    Lent {
        pool: Arc<Pool>,
        next: Option<ZShmMut>,
    },
}

pub struct Outgoing {
    bytes: usize,
    memory: Memory,
}

impl Outgoing {
    pub fn new(bytes: usize, pool: Option<Arc<Pool>>) -> Self {
        let memory = match pool {
            None => Memory::Heap(Vec::new()),
            Some(pool) => Memory::Lent { pool, next: None },
        };
        let mut outgoing = Self { bytes, memory };
        outgoing.reserve(Duration::ZERO);
        outgoing
    }

    /// Null: there is none to be had.
    pub fn place(&mut self) -> *mut u8 {
        self.reserve(Duration::ZERO);
        match &mut self.memory {
            Memory::Heap(next) => next.as_mut_ptr(),
            Memory::Lent { next, .. } => next
                .as_mut()
                .map_or(std::ptr::null_mut(), |buffer| buffer.as_mut().as_mut_ptr()),
        }
    }

    /// What was written, whole. None: place() had none.
    pub fn written(&mut self) -> Option<ZBytes> {
        match &mut self.memory {
            Memory::Heap(next) if next.capacity() < self.bytes => None,
            Memory::Heap(next) => {
                // SAFETY: place() made room for so many, and the caller wrote them.
                unsafe { next.set_len(self.bytes) };
                Some(std::mem::take(next).into())
            }
            Memory::Lent { next, .. } => next.take().map(ZBytes::from),
        }
    }

    /// Waits for memory to come back to the pool: zenoh looks for what its peers have read ten times a second.
    pub fn reserve(&mut self, patience: Duration) {
        const PAUSE: Duration = Duration::from_micros(200);
        match &mut self.memory {
            Memory::Heap(next) => {
                if next.capacity() < self.bytes {
                    *next = Vec::with_capacity(self.bytes);
                }
            }
            Memory::Lent { pool, next } => {
                let mut until = None;
                while next.is_none() {
                    let allocated = pool.alloc(self.bytes).with_policy::<GarbageCollect>();
                    *next = allocated.wait().ok();
                    if next.is_none() {
                        if Instant::now() >= *until.get_or_insert_with(|| Instant::now() + patience)
                        {
                            return;
                        }
                        std::thread::sleep(PAUSE);
                    }
                }
            }
        }
    }

    pub fn is_lent(&self) -> bool {
        matches!(self.memory, Memory::Lent { .. })
    }
}
