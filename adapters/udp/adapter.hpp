// The floor of UDP: a datagram a message where it fits, a send() and a recv() each; larger ones in fragments, in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <sockets/descriptor.hpp>

#include "capacity.hpp"
#include "fragments.hpp"
#include "publisher.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Udp {
 public:
  explicit Udp(const Settings& settings)
      : settings_((sockets::refuse_what_cannot_be_done(settings, describe()), settings)),
        datagram_bytes_(sockets::native_bytes(settings, datagram_key, default_datagram_bytes)),
        buffer_bytes_(sockets::native_bytes(settings, buffer_key, 0)),
        timestamping_(sockets::native_timestamping(settings)) {
    if (datagram_bytes_ < least_datagram_bytes || datagram_bytes_ > udp::datagram_limit) {
      throw AdapterError("native setting " + std::string(datagram_key) + ": " + std::to_string(datagram_bytes_) +
                         " is not from " + std::to_string(least_datagram_bytes) + " to " +
                         std::to_string(udp::datagram_limit));
    }
    sockets::allow_many_descriptors();
  }

  [[nodiscard]] static Description describe() {
    const udp::Capacity capacity = udp::capacity(default_datagram_bytes, std::size_t{64} << 20);
    Description description;
    description.name = "udp";
    description.title = "UDP socket (floor)";
    description.version = sockets::kernel_release();
    description.licence = "Apache-2.0";
    description.floor = true;
    Transport transport;
    transport.name = "udp";
    transport.carrier = "udp";
    transport.receive = {"poll", "block"};
    transport.reliability = {"best-effort"};
    transport.max_bytes = capacity.max_bytes;
    transport.max_bytes_advice = capacity.advice;
    description.transports = {transport};
    description.native = {
        {sockets::timestamping_key, sockets::timestamping_words},
        {buffer_key, "receive buffer by the kernel's account, in bytes; twice what a message of the trial takes"},
        {datagram_key, "the most one datagram of a message beyond " + std::to_string(udp::datagram_limit) +
                           " bytes may have; " + std::to_string(default_datagram_bytes)}};
    return description;
  }

  [[nodiscard]] udp::Publisher publisher(const Topic& topic, unsigned index) {
    return {settings_, topic, index, udp::Layout::of(topic.message_bytes, datagram_bytes_)};
  }

  [[nodiscard]] udp::Subscriber subscriber(const Topic& topic, unsigned index) {
    const udp::Layout layout = udp::Layout::of(topic.message_bytes, datagram_bytes_);
    // One publisher's message must fit while nobody reads; room for a second one keeps a late one from costing the
    // next.
    const std::size_t datagram =
        layout.whole() ? topic.message_bytes : layout.fragment_bytes + sizeof(udp::FragmentHeader);
    const std::size_t publishers = layout.whole() ? topic.publishers : 1;
    const std::size_t message = layout.fragments * udp::datagram_cost(datagram);
    const std::size_t wanted = std::max(message * publishers * 2, least_buffer_bytes);
    granted_bytes_ = grant(buffer_bytes_ != 0 ? buffer_bytes_ : wanted);
    if (!layout.whole() && granted_bytes_ < message) {
      throw AdapterError("udp: the receive buffer of " + std::to_string(granted_bytes_) +
                             " bytes does not hold a message of " + std::to_string(topic.message_bytes) +
                             " bytes, which takes " + std::to_string(message),
                         "sudo sysctl -w net.core.rmem_max=" + std::to_string(message / 2 + 1));
    }
    needed_bytes_ = std::max(needed_bytes_, message * publishers);
    fragmented_ = fragmented_ || !layout.whole();
    return {settings_, topic, index, layout, granted_bytes_, timestamping_};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> told;
    if (timestamping_ && fragmented_) told.emplace_back("no arrival is stamped of a message in several datagrams");
    if (granted_bytes_ >= needed_bytes_) return told;
    told.push_back("the receive buffer is " + std::to_string(granted_bytes_) +
                   " bytes and the replies to one message take " + std::to_string(needed_bytes_) +
                   ": some may be lost; sudo sysctl -w net.core.rmem_max=" + std::to_string(needed_bytes_ / 2 + 1));
    return told;
  }

 private:
  static constexpr const char* buffer_key = "receive_buffer_bytes";
  static constexpr const char* datagram_key = "datagram_bytes";
  static constexpr std::size_t default_datagram_bytes = udp::datagram_limit;
  static constexpr std::size_t least_datagram_bytes = 1024;
  static constexpr std::size_t least_buffer_bytes = std::size_t{4} << 20;

  /// What a socket of this user gets when it asks for `bytes`.
  static std::size_t grant(std::size_t bytes) {
    const sockets::Descriptor probe = sockets::open_socket(AF_INET, SOCK_DGRAM);
    return sockets::grow_buffer(probe.get(), SO_RCVBUF, SO_RCVBUFFORCE, bytes);
  }

  const Settings settings_;
  const std::size_t datagram_bytes_;
  const std::size_t buffer_bytes_;
  const bool timestamping_;
  bool fragmented_ = false;
  std::size_t granted_bytes_ = 0;
  std::size_t needed_bytes_ = 0;
};

static_assert(Adapter<Udp> && HasNotes<Udp> && HasArrivalStamp<udp::Subscriber>);

}  // namespace middlemark
