//! Connects the workers of a trial. Each worker listens on its own endpoint, writes the endpoint into the scratch
//! folder, and connects to the endpoints that others have written before. So each pair of workers has exactly one link,
//! whatever their starting order. In a crowd each session connects to the first one only, and zenoh's gossip introduces
//! the others.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use middlemark_adapter::{Error, Pattern, Result, Security, Settings, DEFAULT_CONFIGURATION};

use super::router::{self, Users};

pub struct Meeting {
    /// Empty for a client of a router, which does not listen.
    pub listen: Vec<String>,
    /// The endpoints of the workers that started earlier, or of the router.
    pub connect: Vec<String>,
}

impl Meeting {
    /// `users`: how the sessions use the trial's router; `None` without one.
    pub fn of(settings: &Settings, users: Option<Users>) -> Result<Self> {
        if let Some(users) = users {
            let mut listen = Vec::new();
            if users == Users::Peers {
                listen.push(endpoint(settings, &std::process::id().to_string())?);
            }
            return Ok(Self { listen, connect: router::of_the_trial()? });
        }
        let listen = endpoint(settings, &std::process::id().to_string())?;
        let mut connect = announce(&settings.scratch, &listen)
            .map_err(|error| Error::from(format!("zenoh: {}: {error}", settings.scratch)))?;
        if settings.pattern == Pattern::Crowd {
            connect.truncate(1);
        }
        Ok(Self { listen: vec![listen], connect })
    }
}

/// Returns an endpoint to listen on. The endpoint's protocol sets the link's reliability: for reliable UDP it is QUIC
/// without encryption. `name` is part of the path of a Unix socket, and differs between the processes of a trial.
pub fn endpoint(settings: &Settings, name: &str) -> Result<String> {
    const LONGEST_PATH: usize = 107; // of a Unix socket
    match settings.transport.get() {
        "tcp" | "udp" | DEFAULT_CONFIGURATION => {
            let address: Ipv4Addr = settings.ipv4()?.parse()?;
            let udp = settings.transport == "udp";
            let place = if udp {
                UdpSocket::bind((address, 0)).and_then(|free| free.local_addr())
            } else {
                TcpListener::bind((address, 0)).and_then(|free| free.local_addr())
            };
            let place = place.map_err(|error| Error::from(format!("zenoh: no free port at {address}: {error}")))?;
            let secure = settings.security != Security::None;
            Ok(match (udp, secure, settings.reliable()) {
                (false, false, _) => format!("tcp/{place}"),
                (false, true, _) => format!("tls/{place}"),
                (true, false, true) => format!("udp/{place}?rel=1"),
                (true, false, false) => format!("udp/{place}"),
                (true, true, true) => format!("quic/{place}"),
                (true, true, false) => format!("quic/{place}?rel=0"),
            })
        }
        _ => {
            let path = format!("{}/zenoh.{name}.sock", settings.scratch);
            if path.len() > LONGEST_PATH {
                let text = format!("zenoh: {path}: is too long for a Unix socket");
                return Err(Error::new(text, "set TMPDIR to a shorter path"));
            }
            Ok(format!("unixsock-stream/{path}"))
        }
    }
}

/// Writes the endpoint into the file with the next free number, and returns the endpoints in the files with smaller
/// numbers. The file is written under another name and then linked, so that readers never see a partly written file.
fn announce(scratch: &str, endpoint: &str) -> io::Result<Vec<String>> {
    let aside = format!("{scratch}/zenoh.{}.new", std::process::id());
    fs::write(&aside, endpoint)?;
    let mut before = Vec::new();
    loop {
        let taken = format!("{scratch}/zenoh.endpoint.{}", before.len());
        match fs::hard_link(&aside, &taken) {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => before.push(fs::read_to_string(&taken)?),
            Err(error) => return Err(error),
        }
    }
    fs::remove_file(&aside)?;
    Ok(before)
}
