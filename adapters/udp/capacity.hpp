// Computes the size of the largest message that this user can receive on this machine. UDP has no flow control:
// messages that arrive while the receiver does not read must fit into its socket's buffer. The kernel counts the memory
// that a datagram takes, not its bytes.
#pragma once

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <middlemark/kit/socket.hpp>

#include "fragments.hpp"

namespace middlemark::udp {

/// Returns how much of the receive buffer a queued datagram of `bytes` takes, measured on loopback. On Linux 6.18 this
/// is 832 bytes more than the datagram's size. On kernels that store a datagram in one piece it is up to twice the
/// size.
[[nodiscard]] inline std::size_t datagram_cost(std::size_t bytes) {
  const std::size_t at_worst = bytes * 2 + 4096;
  const kit::Descriptor receiver(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const kit::Descriptor sender(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const std::vector<std::byte> datagram(bytes);
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t memory_length = sizeof memory;
  const bool measured = bind(receiver.get(), name, length) == 0 && getsockname(receiver.get(), name, &length) == 0 &&
                        sendto(sender.get(), datagram.data(), bytes, 0, name, length) >= 0 &&
                        getsockopt(receiver.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &memory_length) == 0;
  const std::size_t cost = measured ? memory[SK_MEMINFO_RMEM_ALLOC] : 0;
  return cost >= bytes ? cost : at_worst;
}

/// Returns half of the memory that UDP may use on this machine (net.ipv4.udp_mem), in bytes. The other half is left for other
/// sockets and for the opposite direction.
[[nodiscard]] inline std::size_t udp_memory_share() {
  std::ifstream file("/proc/sys/net/ipv4/udp_mem");
  std::size_t low = 0;
  std::size_t pressure = 0;
  std::size_t high = 0;
  if (!(file >> low >> pressure >> high)) return std::numeric_limits<std::size_t>::max();
  return high / 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Capacity {
  std::size_t max_bytes = datagram_limit;
  std::string advice;
};

/// Returns the largest message that can be received, at most `wanted_bytes`, and advice if it is smaller. Opens sockets and
/// closes them.
[[nodiscard]] inline Capacity capacity(std::size_t datagram_bytes, std::size_t wanted_bytes) {
  const std::size_t cost = datagram_cost(datagram_bytes);
  const Layout wanted = Layout::of(wanted_bytes, datagram_bytes);
  const std::size_t needed = wanted.fragments * cost;
  const kit::Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::size_t buffer = kit::grow_buffer(probe.get(), SO_RCVBUF, SO_RCVBUFFORCE, needed);
  const std::size_t share = udp_memory_share();
  if (std::min(buffer, share) >= needed) return {wanted_bytes, ""};
  const std::size_t fragments = std::min(buffer, share) / cost;
  Capacity found;
  // If there is room for only one datagram, `max_bytes` remains datagram_limit, because an empty queue always accepts
  // one datagram.
  if (fragments > 1) {
    constexpr std::size_t line = 64;
    found.max_bytes = fragments * ((datagram_bytes - sizeof(FragmentHeader)) / line * line);
  }
  if (buffer < needed) found.advice = "sudo sysctl -w net.core.rmem_max=" + std::to_string(needed / 2 + 1);
  if (share < needed) {
    const std::size_t pages = needed / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * 2 + 2;
    found.advice += (found.advice.empty() ? "sudo sysctl -w net.ipv4.udp_mem='" : " net.ipv4.udp_mem='") +
                    std::to_string(pages / 2) + ' ' + std::to_string(pages / 4 * 3) + ' ' + std::to_string(pages) + "'";
  }
  return found;
}

}  // namespace middlemark::udp
