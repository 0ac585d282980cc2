//! A complete adapter for Unix datagram sockets. Each subscriber has a socket, to which all publishers of its topic send.

use std::io::{ErrorKind, Result as IoResult};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use middlemark_adapter::{
    Adapter, Buffer, Description, LastError, Published, Reception, Reliability, Result, Settings, Topic, Transport,
    Visitor,
};

middlemark_adapter::worker!(Unixgram);

struct Unixgram {
    settings: &'static Settings,
}

impl Adapter for Unixgram {
    type Publisher = Publisher;
    type Subscriber = Subscriber;

    fn describe() -> Description {
        // A Unix socket loses nothing, and the kernel's default send buffer accepts 64 KiB in one piece.
        let transport = Transport {
            name: "unixgram",
            carrier: "unix-socket",
            receive: vec![Reception::Block, Reception::Poll],
            reliability: vec![Reliability::Reliable],
            max_bytes: 65536,
            ..Transport::default()
        };
        Description {
            name: "unixgram-rust",
            title: "Unix datagram socket, in Rust",
            version: "1",
            licence: "Apache-2.0",
            transports: vec![transport],
            ..Description::default()
        }
    }

    fn open(settings: &'static Settings) -> Result<Self> {
        Ok(Self { settings })
    }

    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Publisher> {
        let peer = |index| {
            let socket = UnixDatagram::unbound()?;
            socket.set_write_timeout(Some(self.settings.write_timeout()))?;
            Ok(Peer { socket, address: address_of(topic, index)?, connected: false })
        };
        let peers = (0..topic.subscribers).map(peer).collect::<IoResult<_>>()?;
        Ok(Publisher { message: Buffer::of(topic.message_bytes), peers })
    }

    fn subscriber(&mut self, topic: &Topic, index: u32) -> Result<Subscriber> {
        let socket = UnixDatagram::bind_addr(&address_of(topic, index)?)?;
        socket.set_nonblocking(true)?;
        // One more byte, so that a longer message is not taken for a whole one.
        Ok(Subscriber { socket, message: vec![0; topic.message_bytes + 1] })
    }
}

/// Returns the address of a subscriber's socket. An abstract name needs no file, so a killed process leaves nothing behind.
fn address_of(topic: &Topic, subscriber: u32) -> IoResult<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{}.{subscriber}", topic.name))
}

struct Peer {
    socket: UnixDatagram,
    address: SocketAddr,
    connected: bool,
}

struct Publisher {
    message: Buffer,
    peers: Vec<Peer>,
}

impl middlemark_adapter::Publisher for Publisher {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.message.loan(bytes)
    }

    /// Sends the message to one subscriber after the other, and waits if a subscriber's queue is full. The kernel copies the
    /// message into the queue.
    fn publish(&mut self, error: &mut LastError) -> Published {
        for peer in &self.peers {
            match peer.socket.send(self.message.message()) {
                Ok(_) => (),
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Published::TimedOut,
                Err(why) => {
                    error.note(format_args!("send(): {why}"));
                    return Published::Failed;
                }
            }
        }
        Published::Ok
    }

    fn matched(&mut self) -> usize {
        for peer in &mut self.peers {
            peer.connected = peer.connected || peer.socket.connect_addr(&peer.address).is_ok();
        }
        self.peers.iter().filter(|peer| peer.connected).count()
    }
}

struct Subscriber {
    socket: UnixDatagram,
    message: Vec<u8>,
}

impl middlemark_adapter::Subscriber for Subscriber {
    const MOST_PER_TAKE: usize = 64;

    fn take(&mut self, visitor: Visitor<'_>, _error: &mut LastError) -> usize {
        for taken in 0..Self::MOST_PER_TAKE {
            let Ok(bytes) = self.socket.recv(&mut self.message) else {
                return taken;
            };
            visitor.visit(&self.message[..bytes]);
        }
        Self::MOST_PER_TAKE
    }

    fn wait(&mut self, timeout: Duration, _error: &mut LastError) -> bool {
        let mut readable = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let most = libc::timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        // SAFETY: ppoll() uses the pointers to `readable` and `most` only during the call, and both outlive it.
        unsafe { libc::ppoll(&mut readable, 1, &most, std::ptr::null()) > 0 }
    }
}
