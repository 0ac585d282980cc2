//! Counts matched peers from the participant's events. The event channel of a single writer or reader holds four events and
//! drops later ones when it is full.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rustdds::DomainParticipantStatusEvent as Event;
use rustdds::DomainParticipantStatusListener as Listener;
use rustdds::{StatusEvented, GUID};

pub struct Peers {
    known: Mutex<Known>,
}

struct Known {
    listener: Listener,
    /// Ends of this process, each with a peer that it is matched with.
    matches: BTreeSet<(GUID, GUID)>,
}

impl Peers {
    pub fn of(listener: Listener) -> Self {
        Self { known: Mutex::new(Known { listener, matches: BTreeSet::new() }) }
    }

    pub fn count(&self, end: GUID) -> usize {
        let Ok(mut known) = self.known.lock() else {
            return 0;
        };
        while let Some(event) = known.listener.try_recv_status() {
            match event {
                Event::RemoteReaderMatched { local_writer: own, remote_reader: other }
                | Event::RemoteWriterMatched { local_reader: own, remote_writer: other } => {
                    known.matches.insert((own, other));
                }
                Event::ReaderLost { guid, .. } | Event::WriterLost { guid, .. } => {
                    known.matches.retain(|(_, other)| *other != guid);
                }
                Event::ParticipantLost { id, .. } => known.matches.retain(|(_, other)| other.prefix != id),
                _ => (),
            }
        }
        known.matches.iter().filter(|(own, _)| *own == end).count()
    }
}
