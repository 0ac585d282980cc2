//! How the workers of a trial find each other: each listens on an endpoint of its own, writes it into the scratch folder and connects
//! to whoever was there before it. Every two have one link then, in whatever order they start.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use middlemark_adapter::{Error, Result, Security, Settings, AS_IT_COMES};

pub struct Meeting {
    /// zenoh's endpoint.
    pub listen: String,
    /// Those of whoever was there before.
    pub connect: Vec<String>,
}

impl Meeting {
    pub fn of(settings: &Settings) -> Result<Self> {
        let listen = own_endpoint(settings)?;
        let connect = announce(&settings.scratch, &listen)
            .map_err(|error| Error::from(format!("zenoh: {}: {error}", settings.scratch)))?;
        Ok(Self { listen, connect })
    }
}

/// Where this process can listen. zenoh tells a link's reliability by its endpoint: a reliable UDP link is QUIC, not encrypted.
fn own_endpoint(settings: &Settings) -> Result<String> {
    const LONGEST_PATH: usize = 107; // of the address of a Unix socket
    match settings.transport.get() {
        "tcp" | "udp" | AS_IT_COMES => {
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
            let path = format!("{}/zenoh.{}.sock", settings.scratch, std::process::id());
            if path.len() > LONGEST_PATH {
                let text = format!("zenoh: {path}: is too long for a Unix socket");
                return Err(Error::new(text, "set TMPDIR to a shorter path"));
            }
            Ok(format!("unixsock-stream/{path}"))
        }
    }
}

/// Takes the next number and returns what stands under those before it. Written aside and linked: whoever reads it finds the whole of it.
fn announce(scratch: &str, endpoint: &str) -> io::Result<Vec<String>> {
    let aside = format!("{scratch}/zenoh.{}.new", std::process::id());
    fs::write(&aside, endpoint)?;
    let mut before = Vec::new();
    loop {
        let taken = format!("{scratch}/zenoh.{}.endpoint", before.len());
        match fs::hard_link(&aside, &taken) {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => before.push(fs::read_to_string(&taken)?),
            Err(error) => return Err(error),
        }
    }
    fs::remove_file(&aside)?;
    Ok(before)
}
