// The floor of TCP: one connection for each pair of processes that talk, a send() and a recv() a message, no delay.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>

#include <middlemark/adapter.hpp>
#include <sockets/stream.hpp>

namespace middlemark {

class Tcp {
 public:
  explicit Tcp(const Settings& settings)
      : chunk_bytes_((sockets::refuse_what_cannot_be_done(settings, describe()),
                      sockets::native_bytes(settings, chunk_key, default_chunk_bytes))),
        send_buffer_bytes_(sockets::native_bytes(settings, send_key, autotuned)),
        receive_buffer_bytes_(sockets::native_bytes(settings, receive_key, autotuned)),
        timestamping_(sockets::native_timestamping(settings)),
        write_timeout_(settings.write_timeout),
        links_(settings, listener(settings.interface), [this](int fd) { tune(fd); }) {}

  [[nodiscard]] static Description describe() {
    Description description;
    description.name = "tcp";
    description.title = "TCP socket (floor)";
    description.version = sockets::kernel_release();
    description.licence = "Apache-2.0";
    description.floor = true;
    Transport transport;
    transport.name = "tcp";
    transport.carrier = "tcp";
    transport.receive = {"poll", "block"};
    transport.reliability = {"reliable"};
    description.transports = {transport};
    description.native = {
        {sockets::timestamping_key, sockets::timestamping_words},
        {send_key, "send buffer by the kernel's account, in bytes; left to its autotuning"},
        {receive_key, "receive buffer by the kernel's account, in bytes; left to its autotuning"},
        {chunk_key, "the most given to one send(), in bytes; " + std::to_string(default_chunk_bytes)}};
    return description;
  }

  [[nodiscard]] sockets::StreamPublisher publisher(const Topic& topic, unsigned index) {
    return {links_, topic, index, chunk_bytes_};
  }
  [[nodiscard]] sockets::StreamSubscriber subscriber(const Topic& topic, unsigned index) {
    return {links_, topic, index, timestamping_};
  }

 private:
  static constexpr const char* send_key = "send_buffer_bytes";
  static constexpr const char* receive_key = "receive_buffer_bytes";
  static constexpr const char* chunk_key = "send_chunk_bytes";
  static constexpr std::size_t autotuned = 0;
  // Three of loopback's 64 KiB segments. A send() keeps the socket to itself until it returns, so while a whole 1 MiB
  // is being given the acknowledgements wait outside and the sender runs dry of window.
  static constexpr std::size_t default_chunk_bytes = std::size_t{192} << 10;

  static sockets::Descriptor listener(const std::string& interface) {
    sockets::Descriptor socket = sockets::open_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
    sockets::bind_ipv4(socket.get(), interface);
    if (listen(socket.get(), SOMAXCONN) != 0) sockets::fail("listen() on " + interface);
    return socket;
  }

  void tune(int fd) const {
    sockets::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    sockets::set_timeout(fd, SO_SNDTIMEO, write_timeout_);
    if (timestamping_) sockets::stamp_arrivals(fd);
    if (send_buffer_bytes_ != autotuned) {
      sockets::grow_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, send_buffer_bytes_);
    }
    if (receive_buffer_bytes_ != autotuned) {
      sockets::grow_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, receive_buffer_bytes_);
    }
  }

  const std::size_t chunk_bytes_;
  const std::size_t send_buffer_bytes_;
  const std::size_t receive_buffer_bytes_;
  const bool timestamping_;
  const std::chrono::nanoseconds write_timeout_;
  sockets::Links links_;
};

static_assert(Adapter<Tcp> && HasArrivalStamp<sockets::StreamSubscriber>);

}  // namespace middlemark
