// The multicast group of a trial. LCM has no option for the network interface: it uses the interface of the route to
// its group, which is seldom the loopback interface. So keep_to_interface() finds LCM's sockets among the descriptors
// of the process and sets their interface.
#pragma once

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include <middlemark/kit/links.hpp>
#include <middlemark/kit/socket.hpp>

namespace middlemark::lcm {

/// The group and the port of a trial. They never equal LCM's default (239.255.76.67:7667). Two trials rarely have the
/// same group and port, and the names of channels also contain the trial's name.
struct Group {
  in_addr address{};
  std::uint16_t port = 0;
  std::string interface;

  explicit Group(const Settings& settings) : interface(settings.interface) {
    const std::uint64_t hash = kit::name_hash(settings.scope + "/" + std::to_string(settings.domain));
    const auto low = static_cast<std::uint32_t>(hash >> 32 & 0xFFFF);
    address.s_addr = htonl(0xEFFF0000U | (low == 0x4C43 ? 1 : low));  // 239.255.x.y, but not LCM's default
    port = static_cast<std::uint16_t>(10'000 + hash % 20'000);
  }
  [[nodiscard]] std::string text() const { return kit::text_of(address) + ":" + std::to_string(port); }
  [[nodiscard]] std::string how_to_route() const {
    return "add a route to multicast addresses, which LCM needs; the loopback interface is enough: sudo ip route add "
           "239.255.0.0/16 dev " +
           interface;
  }
};

/// Sets the interface of every LCM socket in this process. Senders are the UDP sockets with a multicast TTL of 0; receivers
/// are the sockets bound to the group's port.
inline void keep_to_interface(const Group& group) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  ip_mreqn there{};
  there.imr_multiaddr = group.address;
  there.imr_address = kit::ipv4_of(group.interface);
  there.imr_ifindex = static_cast<int>(if_nametoindex(group.interface.c_str()));
  ip_mreqn anywhere{};
  anywhere.imr_multiaddr = group.address;
  const auto last = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65'536));
  for (int fd = 0; fd < last; ++fd) {
    int type = 0;
    int ttl = -1;
    socklen_t length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_DGRAM) continue;
    sockaddr_in bound{};
    socklen_t bound_length = sizeof bound;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bound_length) != 0 || bound.sin_family != AF_INET) {
      continue;
    }
    length = sizeof ttl;
    if (bound.sin_port == htons(group.port)) {  // LCM 1.3 binds to any address, later versions to the group's address
      // Leave the group first, because LCM may have joined it on this interface.
      setsockopt(fd, IPPROTO_IP, IP_DROP_MEMBERSHIP, &anywhere, sizeof anywhere);
      if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &there, sizeof there) != 0 && errno != EADDRINUSE) {
        kit::fail("lcm: joining " + group.text() + " on " + group.interface);
      }
      kit::set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL");
    } else if (getsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, &length) == 0 && ttl == 0) {
      if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &there, sizeof there) != 0) {
        kit::fail("lcm: IP_MULTICAST_IF to " + group.interface);
      }
      if (group.interface != "lo") kit::set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, 1, "IP_MULTICAST_TTL");
    }
  }
}

}  // namespace middlemark::lcm
