// The floor of Unix stream sockets: one connection for each pair of processes that talk, a send() and a recv() a
// message.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <sockets/stream.hpp>

namespace middlemark {

class UnixSocket {
 public:
  explicit UnixSocket(const Settings& settings)
      : chunk_bytes_((sockets::refuse_what_cannot_be_done(settings, describe()),
                      sockets::native_bytes(settings, chunk_key, default_chunk_bytes))),
        buffer_bytes_(sockets::native_bytes(settings, buffer_key, default_buffer_bytes)),
        write_timeout_(settings.write_timeout),
        links_(settings, listener(), [this](int fd) { tune(fd); }) {}

  [[nodiscard]] static Description describe() {
    Description description;
    description.name = "uds";
    description.title = "Unix stream socket (floor)";
    description.version = sockets::kernel_release();
    description.licence = "Apache-2.0";
    description.floor = true;
    Transport transport;
    transport.name = "uds";
    transport.carrier = "unix-socket";
    transport.receive = {"poll", "block"};
    transport.reliability = {"reliable"};
    description.transports = {transport};
    description.native = {
        {buffer_key, "send buffer by the kernel's account, in bytes; " + std::to_string(default_buffer_bytes)},
        {chunk_key, "the most given to one send(), in bytes; " + std::to_string(default_chunk_bytes)}};
    return description;
  }

  [[nodiscard]] sockets::StreamPublisher publisher(const Topic& topic, unsigned index) {
    return {links_, topic, index, chunk_bytes_};
  }
  [[nodiscard]] sockets::StreamSubscriber subscriber(const Topic& topic, unsigned index) {
    return {links_, topic, index};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (granted_bytes_ >= buffer_bytes_) return {};
    return {"the send buffer is " + std::to_string(granted_bytes_) + " bytes, not " + std::to_string(buffer_bytes_) +
            ": large messages are slower; sudo sysctl -w net.core.wmem_max=" + std::to_string(buffer_bytes_ / 2)};
  }

 private:
  static constexpr const char* buffer_key = "send_buffer_bytes";
  static constexpr const char* chunk_key = "send_chunk_bytes";
  // Twice the kernel's default, which lets the writer of 1 MiB and more fall asleep for its reader several times a
  // message. It is what every user may have (net.core.wmem_max as it comes), and more brings nothing.
  static constexpr std::size_t default_buffer_bytes = 425'984;
  // What one buffer of the kernel holds without a second part (a 32 KiB page fragment): 64 KiB goes as two of them, and
  // the reader copies the first while the second is written.
  static constexpr std::size_t default_chunk_bytes = std::size_t{32} << 10;

  /// Bound to an abstract name of the kernel's choice: unique, no path to be too long, and nothing to be left behind.
  static sockets::Descriptor listener() {
    sockets::Descriptor socket = sockets::open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family) != 0) {
      sockets::fail("bind() to an abstract Unix address");
    }
    if (listen(socket.get(), SOMAXCONN) != 0) sockets::fail("listen() on a Unix socket");
    return socket;
  }

  void tune(int fd) {
    granted_bytes_ = sockets::grow_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, buffer_bytes_);
    sockets::set_timeout(fd, SO_SNDTIMEO, write_timeout_);
  }

  const std::size_t chunk_bytes_;
  const std::size_t buffer_bytes_;
  const std::chrono::nanoseconds write_timeout_;
  std::size_t granted_bytes_ = static_cast<std::size_t>(-1);  // before the first connection: nothing to note
  sockets::Links links_;
};

static_assert(Adapter<UnixSocket> && HasNotes<UnixSocket>);

}  // namespace middlemark
