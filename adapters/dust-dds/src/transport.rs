//! Dust DDS's own UDP transport, changed to send multicast on one interface only. The original has `interface_name`,
//! which limits the interfaces on which it listens and the addresses that it announces, but not the interfaces on which
//! it sends multicast.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use dust_dds::rtps_udp_transport::udp_transport::RtpsUdpTransportParticipantFactory;
use dust_dds::transport::interface::{
    RtpsTransportParticipant, TransportDataReceiver, TransportParticipantFactory, WriteMessage,
};
use dust_dds::transport::types::Locator;

pub struct OneInterface {
    pub udp: RtpsUdpTransportParticipantFactory,
    /// The socket that sends multicast on the trial's interface.
    pub multicast: UdpSocket,
}

impl TransportParticipantFactory for OneInterface {
    fn create_participant(&self, domain_id: i32, receiver: TransportDataReceiver) -> RtpsTransportParticipant {
        let multicast = self.multicast.try_clone().expect("a socket to send multicast");
        let made = self.udp.create_participant(domain_id, receiver);
        RtpsTransportParticipant { message_writer: Box::new(Sender { own: made.message_writer, multicast }), ..made }
    }
}

struct Sender {
    own: Box<dyn WriteMessage + Send + Sync>,
    multicast: UdpSocket,
}

impl WriteMessage for Sender {
    fn write_buffer_mut(&mut self) -> &mut [u8] {
        self.own.write_buffer_mut()
    }

    fn write_message(&mut self, bytes: usize, to: &[Locator]) {
        for locator in to {
            let to_address = socket_address(locator);
            if to_address.ip().is_multicast() {
                // Ignore errors: discovery sends its datagrams again.
                let _ = self.multicast.send_to(&self.own.write_buffer_mut()[..bytes], to_address);
            } else {
                self.own.write_message(bytes, std::slice::from_ref(locator));
            }
        }
    }
}

/// Returns the IPv4 address and port of a locator. The last four bytes of its address are the IPv4 address.
fn socket_address(locator: &Locator) -> SocketAddrV4 {
    let [.., a, b, c, d] = locator.address();
    SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), locator.port() as u16)
}

/// Returns a socket that sends multicast on the interface with this address, and from any port, as Dust DDS does.
pub fn multicast_over(address: Ipv4Addr) -> std::io::Result<UdpSocket> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_multicast_if_v4(&address)?;
    Ok(socket.into())
}
