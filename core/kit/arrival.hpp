// Receives from a socket and reports the time at which the kernel received the packet (software SO_TIMESTAMPING).
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

// Kernel headers that need the types of the headers above.
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <middlemark/kit/socket.hpp>

namespace middlemark::kit {

inline constexpr const char* timestamping_help =
    "the kernel stamps received packets, so that the breakdown separates transport from wake-up";

/// Makes the kernel stamp each packet for this socket when the network stack receives it. Packets that arrive right
/// after this call may have no stamp. Stamping makes every packet and every receive slower (see the README of udp), so
/// a raw transport enables it only on request.
inline void stamp_arrivals(int fd) {
  constexpr int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  set_option(fd, SOL_SOCKET, SO_TIMESTAMPING, flags, "SO_TIMESTAMPING");
}

/// Does recv(). Sets `arrived_ns` to the time at which the kernel received the last packet (CLOCK_REALTIME in ns), or to
/// 0 if the kernel reported no time. `arrived_ns` is unchanged if no packet arrived.
inline ssize_t receive_stamped(int fd, std::byte* data, std::size_t bytes, int flags,
                               std::uint64_t& arrived_ns) noexcept {
  iovec part{data, bytes};
  alignas(cmsghdr) std::array<std::byte, 256> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = recvmsg(fd, &message, flags);
  if (length < 0) return length;
  arrived_ns = 0;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPING) continue;
    scm_timestamping stamps{};
    std::memcpy(&stamps, CMSG_DATA(each), sizeof stamps);
    arrived_ns = static_cast<std::uint64_t>(stamps.ts[0].tv_sec) * 1'000'000'000U +
                 static_cast<std::uint64_t>(stamps.ts[0].tv_nsec);
  }
  return length;
}

}  // namespace middlemark::kit
