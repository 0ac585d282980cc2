// A whole adapter: Unix datagram sockets, one for each subscriber, to which every publisher of its topic sends.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

namespace unixgram {

using namespace middlemark;

/// In the kernel's own table of names, not in a folder: nothing is left behind by a killed process.
inline sockaddr_un address_of(const Topic& topic, unsigned subscriber) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = topic.name + "." + std::to_string(subscriber);
  if (name.size() + 1 > sizeof address.sun_path) throw AdapterError("unixgram: the topic's name is too long: " + name);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return address;
}

struct Socket {
  Socket() {
    if (fd < 0) throw AdapterError(std::string("unixgram: socket(): ") + std::strerror(errno));
  }
  ~Socket() { close(fd); }
  Socket(const Socket&) = delete;

  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool connected = false;
};

class Publisher {
 public:
  Publisher(const Settings& settings, const Topic& topic)
      : topic_(topic), buffer_(topic.message_bytes), peers_(topic.subscribers) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(settings.write_timeout).count();
    const timeval timeout{us / 1'000'000, us % 1'000'000};
    for (const Socket& peer : peers_) setsockopt(peer.fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  }

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return buffer_; }

  /// Waits for room at each subscriber in turn; the kernel copies the message into its queue.
  Published publish() noexcept {
    for (const Socket& peer : peers_) {
      if (send(peer.fd, buffer_.data(), buffer_.size(), MSG_NOSIGNAL) >= 0) continue;
      return errno == EAGAIN ? Published::timed_out : Published::failed;
    }
    return Published::ok;
  }

  std::size_t matched() {
    std::size_t found = 0;
    for (unsigned i = 0; i < peers_.size(); ++i) {
      const sockaddr_un to = address_of(topic_, i);
      bool& connected = peers_[i].connected;
      connected = connected || connect(peers_[i].fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
      found += connected ? 1 : 0;
    }
    return found;
  }

 private:
  const Topic topic_;
  std::vector<std::byte> buffer_;
  std::deque<Socket> peers_;
};

class Subscriber {
 public:
  Subscriber(const Topic& topic, unsigned index) : buffer_(topic.message_bytes + 1) {  // what is too long shows
    const sockaddr_un own = address_of(topic, index);
    if (bind(socket_.fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
      throw AdapterError(std::string("unixgram: bind(): ") + std::strerror(errno));
    }
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t taken = 0;
    for (; taken < 64; ++taken) {  // no more at once: a fast publisher must not keep the call from returning
      const ssize_t got = recv(socket_.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got < 0) break;
      visitor(std::span<const std::byte>(buffer_.data(), static_cast<std::size_t>(got)));
    }
    return taken;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    pollfd readable{socket_.fd, POLLIN, 0};
    const timespec most{timeout.count() / 1'000'000'000, timeout.count() % 1'000'000'000};
    return ppoll(&readable, 1, &most, nullptr) > 0;
  }

  void listen(Listener /*listener*/) { throw AdapterError("unixgram: a socket has no thread to listen on"); }
  void silence() noexcept {}

 private:
  Socket socket_;
  std::vector<std::byte> buffer_;
};

class UnixDatagram {
 public:
  explicit UnixDatagram(const Settings& settings) : settings_(settings) {}
  [[nodiscard]] static Description describe() {
    // No transport of a Unix socket loses anything, and the kernel's default send buffer takes 64 KiB in one piece.
    const Transport transport{.name = "unixgram",
                              .carrier = "unix-socket",
                              .receive = {"block", "poll"},
                              .reliability = {"reliable"},
                              .max_bytes = 65536};
    return {.name = "unixgram",
            .title = "Unix datagram socket",
            .version = "1",
            .licence = "Apache-2.0",
            .transports = {transport}};
  }

  Publisher publisher(const Topic& topic, unsigned /*index*/) { return {settings_, topic}; }
  Subscriber subscriber(const Topic& topic, unsigned index) { return {topic, index}; }

 private:
  const Settings settings_;
};

static_assert(Adapter<UnixDatagram>);

}  // namespace unixgram
