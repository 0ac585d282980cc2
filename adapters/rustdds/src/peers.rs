//! Counts matched peers from the participant's events, because the event channel of a single writer or reader has room
//! for only four events and drops later ones when it is full.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rustdds::DomainParticipantStatusEvent as Event;
use rustdds::DomainParticipantStatusListener as Listener;
use rustdds::{StatusEvented, GUID};

pub struct Peers {
    state: Mutex<State>,
}

struct State {
    listener: Listener,
    /// Pairs: a writer or reader of this process, and a peer that it has matched.
    matches: BTreeSet<(GUID, GUID)>,
}

impl Peers {
    pub fn of(listener: Listener) -> Self {
        Self { state: Mutex::new(State { listener, matches: BTreeSet::new() }) }
    }

    pub fn count(&self, end: GUID) -> usize {
        let Ok(mut state) = self.state.lock() else {
            return 0;
        };
        while let Some(event) = state.listener.try_recv_status() {
            match event {
                Event::RemoteReaderMatched { local_writer: own, remote_reader: other }
                | Event::RemoteWriterMatched { local_reader: own, remote_writer: other } => {
                    state.matches.insert((own, other));
                }
                Event::ReaderLost { guid, .. } | Event::WriterLost { guid, .. } => {
                    state.matches.retain(|(_, other)| *other != guid);
                }
                Event::ParticipantLost { id, .. } => state.matches.retain(|(_, other)| other.prefix != id),
                _ => (),
            }
        }
        state.matches.iter().filter(|(own, _)| *own == end).count()
    }
}
