// Makes sockets: owned descriptors, options, addresses, free ports.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::kit {

class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Throws an AdapterError with the text of errno. `what` names the call and its object.
[[noreturn]] inline void fail(const std::string& what, std::string advice = {}) {
  const int error = errno;
  throw AdapterError(what + ": " + std::strerror(error), std::move(advice));
}

[[nodiscard]] inline Descriptor open_socket(int domain, int type) {
  Descriptor socket(::socket(domain, type | SOCK_CLOEXEC, 0));
  if (!socket) fail("socket()");
  return socket;
}

inline void set_option(int fd, int level, int option, int value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) fail(std::string("setsockopt(") + name + ")");
}

/// Sets the size of a socket buffer to `bytes`. Passes half of `bytes` to setsockopt(), because the kernel doubles the
/// value. `option` is SO_SNDBUF or SO_RCVBUF. `force` is SO_SNDBUFFORCE or SO_RCVBUFFORCE, which exceeds the sysctl
/// limit if this user may do so (CAP_NET_ADMIN). Returns the size that the buffer has now.
inline std::size_t grow_buffer(int fd, int option, int force, std::size_t bytes) noexcept {
  const int half = static_cast<int>(std::min<std::size_t>(bytes / 2 + bytes % 2, std::size_t{1} << 29));
  if (setsockopt(fd, SOL_SOCKET, force, &half, sizeof half) != 0) {
    setsockopt(fd, SOL_SOCKET, option, &half, sizeof half);
  }
  int got = 0;
  socklen_t length = sizeof got;
  getsockopt(fd, SOL_SOCKET, option, &got, &length);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

inline void set_timeout(int fd, int option, std::chrono::nanoseconds timeout) noexcept {
  // At least 1 us, because 0 would mean no timeout. The kernel rounds up to its tick (1 to 10 ms).
  const auto us = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(timeout).count(), 1);
  const timeval value{us / 1'000'000, us % 1'000'000};
  setsockopt(fd, SOL_SOCKET, option, &value, sizeof value);
}

/// A socket address. Its bytes are sent to other workers as they are.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Returns the abstract address of a Unix socket, which needs no file. If `name` is empty, the kernel chooses a name.
[[nodiscard]] inline Address abstract_unix(const std::string& name = {}) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) throw AdapterError("too long for the name of a Unix socket: " + name);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  Address generic;
  generic.length = static_cast<socklen_t>(sizeof address.sun_family + (name.empty() ? 0 : 1 + name.size()));
  std::memcpy(&generic.storage, &address, sizeof address);
  return generic;
}

inline void bind_to(int fd, const Address& address) {
  if (bind(fd, address.get(), address.length) != 0) fail("bind()");
}

[[nodiscard]] inline bool connect_to(int fd, const Address& address) noexcept {
  return connect(fd, address.get(), address.length) == 0;
}

/// Blocks until the descriptor is readable; returns false if `timeout` passed first.
[[nodiscard]] inline bool wait_readable(int fd, std::chrono::nanoseconds timeout) noexcept {
  pollfd waited{fd, POLLIN, 0};
  const timespec limit = as_timespec(timeout);
  return ppoll(&waited, 1, &limit, nullptr) > 0;
}

[[nodiscard]] inline Address address_of(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) fail("getsockname()");
  return address;
}

/// Returns the IPv4 address of a network interface. Throws an AdapterError if it has none.
[[nodiscard]] inline in_addr ipv4_of(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) fail("getifaddrs()");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET && interface == each->ifa_name) {
      return reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    }
  }
  throw AdapterError("interface " + interface + ": there is none of this name with an IPv4 address",
                     "`ip -4 address` lists those that exist");
}

[[nodiscard]] inline std::string text_of(in_addr address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

/// Returns the IPv4 address of a network interface as text, such as "127.0.0.1".
[[nodiscard]] inline std::string ipv4_text(const std::string& interface) { return text_of(ipv4_of(interface)); }

/// Binds to the interface's IPv4 address and to `port`; 0 means any free port.
inline void bind_ipv4(int fd, const std::string& interface, std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr = ipv4_of(interface);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  if (port == 0) fail("bind() to " + interface);
  fail("port " + std::to_string(port) + " of " + interface, "`ss -lntup` shows which process uses it");
}

/// Returns `count` ports of the interface that are free now, in rising order, for middlewares that cannot bind to port
/// 0 and report the result. `type`: SOCK_STREAM or SOCK_DGRAM. Leaves out the ports that the kernel gives to outgoing
/// connections, because a connection could take one before the middleware listens. Another process may still take one
/// of the returned ports.
[[nodiscard]] inline std::vector<std::uint16_t> free_ports(const std::string& interface, int type, std::size_t count) {
  constexpr std::uint64_t first = 10'000;
  const std::uint64_t room = std::max(kernel_limit("net/ipv4/ip_local_port_range", 32'768), first + 1024) - first;
  const auto begin = static_cast<unsigned>(getpid()) * 67;  // concurrent trials begin at different ports
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr = ipv4_of(interface);
  std::vector<Descriptor> held;
  std::vector<std::uint16_t> ports;
  for (std::uint64_t tried = 0; ports.size() < count && tried < room; ++tried) {
    const auto port = static_cast<std::uint16_t>(first + (begin + tried) % room);
    where.sin_port = htons(port);
    Descriptor socket = open_socket(AF_INET, type);
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) continue;
    held.push_back(std::move(socket));
    ports.push_back(port);
  }
  if (ports.size() < count) {
    fail(interface + " has " + std::to_string(ports.size()) + " free ports from " + std::to_string(first) + " to " +
         std::to_string(first + room - 1) + " where " + std::to_string(count) + " are needed");
  }
  std::ranges::sort(ports);
  return ports;
}

/// Returns `wanted`, or any free port if `wanted` is 0. Throws an AdapterError if `wanted` is in use; a port with
/// connections in TIME_WAIT counts as free.
[[nodiscard]] inline std::uint16_t free_port(const std::string& interface, int type, std::uint16_t wanted = 0) {
  if (wanted == 0) return free_ports(interface, type, 1).front();
  const Descriptor socket = open_socket(AF_INET, type);
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  bind_ipv4(socket.get(), interface, wanted);
  return wanted;
}

/// Returns the path of a Unix socket in the trial's folder. Throws an AdapterError if the path is too long for a socket.
[[nodiscard]] inline std::string unix_path(const Settings& settings, const std::string& name) {
  const std::string path = settings.scratch + "/" + name;
  if (path.size() < sizeof(sockaddr_un::sun_path)) return path;
  throw AdapterError(path + " is longer than the path of a Unix socket may be",
                     "set TMPDIR to a folder with a shorter name");
}

}  // namespace middlemark::kit
