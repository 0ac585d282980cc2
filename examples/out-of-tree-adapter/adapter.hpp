// A complete adapter for Unix datagram sockets. Each subscriber has a socket, to which all publishers of its topic send.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/socket.hpp>

namespace unixgram {

using namespace middlemark;

/// The adapter's own settings, each declared once: type, default, range and help text.
struct Options : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::optional<std::size_t> send_buffer =
      key<std::size_t>("send_buffer", {.help = "SO_SNDBUF of each publisher's sockets",
                                       .least = 4096,
                                       .most = 1 << 30,
                                       .otherwise = "the kernel's",
                                       .type = NativeType::bytes});
};

inline kit::Address address_of(const Topic& topic, unsigned subscriber) {
  return kit::abstract_unix(topic.name + "." + std::to_string(subscriber));
}

class Publisher : public kit::OwnBuffer {
 public:
  Publisher(const Settings& settings, const Options& options, const Topic& topic)
      : OwnBuffer(topic.message_bytes), topic_(topic), connected_(topic.subscribers) {
    for (unsigned i = 0; i < topic.subscribers; ++i) {
      const int socket = sockets_.emplace_back(kit::open_socket(AF_UNIX, SOCK_DGRAM)).get();
      // Divided, so that a publish() to all subscribers takes at most the write timeout.
      kit::set_timeout(socket, SO_SNDTIMEO, settings.write_timeout / topic.subscribers);
      if (options.send_buffer) kit::grow_buffer(socket, SO_SNDBUF, SO_SNDBUFFORCE, *options.send_buffer);
    }
  }

  /// Sends the message to one subscriber after the other, and waits if a subscriber's queue is full. The kernel copies the
  /// message into the queue.
  Published publish() noexcept {
    for (const kit::Descriptor& socket : sockets_) {
      if (send(socket.get(), message_.data(), message_.size(), MSG_NOSIGNAL) >= 0) continue;
      if (errno == EAGAIN) return Published::timed_out;
      failure_.note("send", errno);
      return Published::failed;
    }
    return Published::ok;
  }

  std::size_t matched() {
    std::size_t found = 0;
    for (unsigned i = 0; i < sockets_.size(); ++i) {
      if (!connected_[i]) connected_[i] = kit::connect_to(sockets_[i].get(), address_of(topic_, i));
      found += connected_[i] ? 1 : 0;
    }
    return found;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  const Topic topic_;
  std::vector<kit::Descriptor> sockets_;
  std::vector<bool> connected_;
  kit::LastSystemFailure failure_;
};

class Subscriber {
 public:
  static constexpr std::size_t most_per_take = 64;

  Subscriber(const Topic& topic, unsigned index)
      : buffer_(topic.message_bytes + 1) {  // one more byte, so that a longer message is not taken for a whole one
    kit::bind_to(socket_.get(), address_of(topic, index));
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t taken = 0;
    for (; taken < most_per_take; ++taken) {
      const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got < 0) break;
      visitor(std::span<const std::byte>(buffer_.data(), static_cast<std::size_t>(got)));
    }
    return taken;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept { return kit::wait_readable(socket_.get(), timeout); }

 private:
  const kit::Descriptor socket_ = kit::open_socket(AF_UNIX, SOCK_DGRAM);
  std::vector<std::byte> buffer_;
};

class UnixDatagram {
 public:
  explicit UnixDatagram(const Settings& settings)
      : settings_(settings), options_(kit::read_native<Options>("unixgram", settings)) {}

  [[nodiscard]] static Description describe() {
    return {.name = "unixgram",
            .title = "Unix datagram socket",
            .version = kit::kernel_release(),
            .licence = "Apache-2.0",
            // A Unix socket loses nothing, and the kernel's default send buffer accepts 64 KiB in one piece.
            .transports = {{.name = "unixgram",
                            .carrier = "unix-socket",
                            .receive = {Reception::block, Reception::poll},
                            .reliability = {Reliability::reliable},
                            .max_bytes = 65536}},
            .native = kit::native_table<Options>()};
  }

  Publisher publisher(const Topic& topic, unsigned /*index*/) { return {settings_, options_, topic}; }
  Subscriber subscriber(const Topic& topic, unsigned index) { return {topic, index}; }

 private:
  const Settings settings_;
  const Options options_;
};

static_assert(fulfils_contract<UnixDatagram>);

}  // namespace unixgram
