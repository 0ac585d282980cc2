// What every socket adapter needs before it has a connection: owned descriptors and memory, options, addresses,
// refusals.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include <middlemark/settings.hpp>

namespace middlemark::sockets {

/// Owns a file descriptor.
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

/// Throws with errno's words. `what` names the call and the thing it was made on.
[[noreturn]] inline void fail(const std::string& what, std::string advice = {}) {
  const int error = errno;
  throw AdapterError(what + ": " + std::strerror(error), std::move(advice));
}

[[nodiscard]] inline Descriptor open_socket(int domain, int type) {
  Descriptor socket(::socket(domain, type | SOCK_CLOEXEC, 0));
  if (!socket) fail("socket()");
  return socket;
}

/// Every pair of a publisher and a subscriber takes a descriptor or two: as many as this user may have.
inline void allow_many_descriptors() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

inline void set_option(int fd, int level, int option, int value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) fail(std::string("setsockopt(") + name + ")");
}

/// Asks for a socket buffer of `bytes` by the kernel's own account (it doubles what it is given); past the sysctl limit
/// where this user may (CAP_NET_ADMIN). Returns what the socket has now. `force` is SO_SNDBUFFORCE or SO_RCVBUFFORCE.
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
  // Zero would mean for ever; the kernel rounds up to its tick (1 to 10 ms).
  const auto us = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(timeout).count(), 1);
  const timeval value{us / 1'000'000, us % 1'000'000};
  setsockopt(fd, SOL_SOCKET, option, &value, sizeof value);
}

/// Memory for one message, touched unless it is a spare, on huge pages where it fills them.
class Memory {
 public:
  explicit Memory(std::size_t bytes, bool touched = true) : bytes_(bytes) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    constexpr std::size_t page = 4096;
    const std::size_t alignment = bytes >= huge ? huge : page;
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
    if (!data_) throw std::bad_alloc();
    if (alignment == huge) madvise(data_.get(), whole, MADV_HUGEPAGE);
    if (touched) std::memset(data_.get(), 0, whole);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {data_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

/// An address as the kernel gave it; it is handed to the peer as these bytes.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

[[nodiscard]] inline Address address_of(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) fail("getsockname()");
  return address;
}

/// The IPv4 address of a network interface.
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
                     "ip -4 address lists those there are");
}

/// Binds to the interface's IPv4 address and a free port.
inline void bind_ipv4(int fd, const std::string& interface) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = ipv4_of(interface);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind() to " + interface);
}

/// Sockets have no library: their version is the kernel's.
[[nodiscard]] inline std::string kernel_release() {
  utsname names{};
  uname(&names);
  return names.release;
}

/// Throws unless the adapter's only transport can do what is asked: the plan refuses it too, but a worker may be driven
/// by hand.
inline void refuse_what_cannot_be_done(const Settings& settings, const Description& description) {
  const Transport& transport = description.transports.front();
  const std::string& name = description.name;
  if (settings.transport != transport.name) {
    throw AdapterError(name + ": transport " + settings.transport + " is unknown", "use " + transport.name);
  }
  const std::string reliability = settings.reliability == Reliability::reliable ? "reliable" : "best-effort";
  if (std::ranges::find(transport.reliability, reliability) == transport.reliability.end()) {
    throw AdapterError(name + ": cannot be " + reliability, "use " + transport.reliability.front());
  }
  if (settings.reception == Reception::listen) {
    throw AdapterError(name + ": a socket has no thread of its own to listen on", "receive by poll or block");
  }
  if (settings.loan) throw AdapterError(name + ": a socket lends no memory", "leave --loan out");
  if (settings.message_bytes > transport.max_bytes) {
    throw AdapterError(name + ": " + std::to_string(settings.message_bytes) + " bytes are more than the " +
                           std::to_string(transport.max_bytes) + " that fit",
                       transport.max_bytes_advice);
  }
  for (const auto& [key, value] : settings.native) {
    if (description.native.contains(key)) continue;
    std::string accepted;
    for (const auto& [known, meaning] : description.native) accepted += (accepted.empty() ? "" : ", ") + known;
    throw AdapterError(name + ": native setting " + key + " is unknown", "accepted: " + accepted);
  }
}

/// A native setting in bytes, or `otherwise` where it is not given.
[[nodiscard]] inline std::size_t native_bytes(const Settings& settings, const std::string& key, std::size_t otherwise) {
  const auto found = settings.native.find(key);
  if (found == settings.native.end()) return otherwise;
  std::size_t bytes = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [rest, error] = std::from_chars(found->second.data(), end, bytes);
  if (error != std::errc{} || rest != end || bytes == 0 || bytes > (std::size_t{1} << 30)) {
    throw AdapterError("native setting " + key + ": " + found->second + " is not a number of bytes from 1 to 2^30");
  }
  return bytes;
}

}  // namespace middlemark::sockets
