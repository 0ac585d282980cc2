// The raw transport for UDP. A message that fits into one datagram takes one send() and one recv(); larger messages are sent
// in fragments, without extra copies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/socket.hpp>

#include "capacity.hpp"
#include "fragments.hpp"
#include "publisher.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Udp {
 public:
  struct Options : kit::NativeKeys {
    using NativeKeys::NativeKeys;
    bool timestamping = key("timestamping", false, {.help = kit::timestamping_help});
    std::optional<std::size_t> receive_buffer_bytes =
        key<std::size_t>("receive_buffer_bytes", {.help = "receive buffer, as the kernel counts it",
                                                  .least = 1,
                                                  .most = 1 << 30,
                                                  .otherwise = "twice the size of the trial's message, at least 4 MiB",
                                                  .type = NativeType::bytes});
    std::size_t datagram_bytes = key(
        "datagram_bytes", udp::datagram_limit,
        {.help = "the largest datagram, for messages of more than " + std::to_string(udp::datagram_limit) + " bytes",
         .least = 1024,
         .most = udp::datagram_limit,
         .type = NativeType::bytes});
  };

  explicit Udp(const Settings& settings) : settings_(settings), options_(kit::read_native<Options>("udp", settings)) {
    kit::allow_many_descriptors();
  }

  [[nodiscard]] static Description describe() {
    const udp::Capacity capacity = udp::capacity(Options{}.datagram_bytes, std::size_t{64} << 20);
    return {.name = "udp",
            .title = "UDP socket",
            .version = kit::kernel_release(),
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "udp",
                            .carrier = "udp",
                            .patterns = every_pattern,
                            .participants_per_process = most_participants,
                            .discovery_by = "sockets have no discovery; files of the trial contain their addresses",
                            .receive = {Reception::poll, Reception::block},
                            .reliability = {Reliability::best_effort},
                            .max_bytes = capacity.max_bytes,
                            .max_bytes_advice = capacity.advice,
                            .varying_sizes = true}},
            .native = kit::native_table<Options>()};
  }

  [[nodiscard]] udp::Publisher publisher(const Topic& topic, unsigned index) {
    return {settings_, topic, index, udp::Layout::of(topic.message_bytes, options_.datagram_bytes)};
  }

  [[nodiscard]] udp::Subscriber subscriber(const Topic& topic, unsigned index) {
    const udp::Layout layout = udp::Layout::of(topic.message_bytes, options_.datagram_bytes);
    // The buffer needs room for one message of each publisher, for times when the subscriber does not read. Request
    // twice that size, so that the next message is not lost if one is read late.
    const std::size_t datagram =
        layout.whole() ? topic.message_bytes : layout.fragment_bytes + sizeof(udp::FragmentHeader);
    const std::size_t publishers = layout.whole() ? topic.publishers : 1;
    const std::size_t message = layout.fragments * udp::datagram_cost(datagram);
    const std::size_t wanted = std::max(message * publishers * 2, least_buffer_bytes);
    granted_bytes_ = grant(options_.receive_buffer_bytes.value_or(wanted));
    if (!layout.whole() && granted_bytes_ < message) {
      throw AdapterError("udp: the receive buffer of " + std::to_string(granted_bytes_) +
                             " bytes is smaller than a message of " + std::to_string(topic.message_bytes) +
                             " bytes, which takes " + std::to_string(message) + " in the buffer",
                         "sudo sysctl -w net.core.rmem_max=" + std::to_string(message / 2 + 1));
    }
    needed_bytes_ = std::max(needed_bytes_, message * publishers);
    fragmented_ = fragmented_ || !layout.whole();
    return {settings_, topic, index, layout, granted_bytes_, options_.timestamping};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (options_.timestamping && fragmented_) all.emplace_back("messages of several datagrams have no arrival stamp");
    if (granted_bytes_ >= needed_bytes_) return all;
    all.push_back(
        "the receive buffer has " + std::to_string(granted_bytes_) +
        " bytes, but one message of each publisher takes " + std::to_string(needed_bytes_) +
        ", so messages may be lost; sudo sysctl -w net.core.rmem_max=" + std::to_string(needed_bytes_ / 2 + 1));
    return all;
  }

 private:
  static constexpr std::size_t least_buffer_bytes = std::size_t{4} << 20;

  /// Returns the size of the receive buffer that this user's sockets get when they request `bytes`.
  static std::size_t grant(std::size_t bytes) {
    const kit::Descriptor probe = kit::open_socket(AF_INET, SOCK_DGRAM);
    return kit::grow_buffer(probe.get(), SO_RCVBUF, SO_RCVBUFFORCE, bytes);
  }

  const Settings settings_;
  const Options options_;
  bool fragmented_ = false;
  std::size_t granted_bytes_ = 0;
  std::size_t needed_bytes_ = 0;
};

static_assert(fulfils_contract<Udp> && HasArrivalStamp<udp::Subscriber>);

}  // namespace middlemark
