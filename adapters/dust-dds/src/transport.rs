//! Dust DDS's own UDP transport, on one interface. Its `interface_name` says where it listens and what it tells of itself; multicast it
//! sends over every interface of the machine. Here that goes over the one, and everything else is its own.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use dust_dds::rtps_udp_transport::udp_transport::RtpsUdpTransportParticipantFactory;
use dust_dds::transport::interface::{
    RtpsTransportParticipant, TransportDataReceiver, TransportParticipantFactory, WriteMessage,
};
use dust_dds::transport::types::Locator;

pub struct OneInterface {
    pub udp: RtpsUdpTransportParticipantFactory,
    /// Sends multicast over the interface.
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
            let place = place_of(locator);
            if place.ip().is_multicast() {
                // Nobody waits for a datagram of discovery: it is sent again.
                let _ = self.multicast.send_to(&self.own.write_buffer_mut()[..bytes], place);
            } else {
                self.own.write_message(bytes, std::slice::from_ref(locator));
            }
        }
    }
}

/// An IPv4 address is the end of a locator's.
fn place_of(locator: &Locator) -> SocketAddrV4 {
    let [.., a, b, c, d] = locator.address();
    SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), locator.port() as u16)
}

/// As Dust DDS sends multicast: from any port, over the interface of that address.
pub fn multicast_over(address: Ipv4Addr) -> std::io::Result<UdpSocket> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_multicast_if_v4(&address)?;
    Ok(socket.into())
}
