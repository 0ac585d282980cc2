// The raw transport for Unix stream sockets: one connection for each pair of communicating processes, one send() and one
// recv() per message.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/stream.hpp>

namespace middlemark {

class UnixSocket {
 public:
  struct Options : kit::NativeKeys {
    using NativeKeys::NativeKeys;
    // Twice the kernel's default. With the default the writer of 1 MiB or more sleeps several times per message. By the
    // default of net.core.wmem_max, every user may request this size. A larger buffer is not faster.
    std::size_t send_buffer_bytes = key<std::size_t>(
        "send_buffer_bytes", 425'984,
        {.help = "send buffer, as the kernel counts it", .least = 1, .most = 1 << 30, .type = NativeType::bytes});
    // The kernel stores up to 32 KiB in one page fragment. A message of 64 KiB is sent as two chunks, and the reader
    // copies the first chunk while the second is written.
    std::size_t send_chunk_bytes = key<std::size_t>("send_chunk_bytes", 32 << 10,
                                                    {.help = "largest number of bytes passed to one send()",
                                                     .least = 1,
                                                     .most = 1 << 30,
                                                     .type = NativeType::bytes});
  };

  explicit UnixSocket(const Settings& settings)
      : options_(kit::read_native<Options>("uds", settings)),
        write_timeout_(settings.write_timeout),
        links_(settings, listener(), [this](int fd) { tune(fd); }) {}

  [[nodiscard]] static Description describe() {
    return {.name = "uds",
            .title = "Unix stream socket",
            .version = kit::kernel_release(),
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "uds",
                            .carrier = "unix-socket",
                            .receive = {Reception::poll, Reception::block},
                            .reliability = {Reliability::reliable},
                            .varying_sizes = true}},
            .native = kit::native_table<Options>()};
  }

  [[nodiscard]] kit::StreamPublisher publisher(const Topic& topic, unsigned index) {
    return {links_, topic, index, options_.send_chunk_bytes};
  }
  [[nodiscard]] kit::StreamSubscriber subscriber(const Topic& topic, unsigned index) { return {links_, topic, index}; }

  [[nodiscard]] std::vector<std::string> notes() const {
    const std::size_t wanted = options_.send_buffer_bytes;
    if (granted_bytes_ >= wanted) return {};
    return {"the send buffer has " + std::to_string(granted_bytes_) + " bytes instead of " + std::to_string(wanted) +
            ", so large messages are slower; sudo sysctl -w net.core.wmem_max=" + std::to_string(wanted / 2)};
  }

 private:
  /// Makes a listener with an abstract name that the kernel chooses. Such a name is unique and short, and needs no
  /// file.
  static kit::Descriptor listener() {
    kit::Descriptor socket = kit::open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
    kit::bind_to(socket.get(), kit::abstract_unix());
    if (listen(socket.get(), SOMAXCONN) != 0) kit::fail("listen() on a Unix socket");
    return socket;
  }

  void tune(int fd) {
    granted_bytes_ = kit::grow_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, options_.send_buffer_bytes);
    kit::set_timeout(fd, SO_SNDTIMEO, write_timeout_);
  }

  const Options options_;
  const std::chrono::nanoseconds write_timeout_;
  // Unknown until the first connection: the largest value, so that notes() reports nothing.
  std::size_t granted_bytes_ = static_cast<std::size_t>(-1);
  kit::Links links_;
};

static_assert(fulfils_contract<UnixSocket>);

}  // namespace middlemark
