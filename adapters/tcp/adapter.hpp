// The raw transport for TCP: one connection for each pair of communicating processes, one send() and one recv() per message,
// TCP_NODELAY.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <optional>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/stream.hpp>

namespace middlemark {

/// Makes and tunes sockets; shared by the adapters with and without TLS.
struct TcpSockets {
  struct Options : kit::NativeKeys {
    using NativeKeys::NativeKeys;
    const NativeSetting buffer{
        .least = 1, .most = 1 << 30, .otherwise = "left to the kernel's autotuning", .type = NativeType::bytes};
    bool timestamping = key("timestamping", false, {.help = kit::timestamping_help});
    std::optional<std::size_t> send_buffer_bytes =
        key<std::size_t>("send_buffer_bytes", saying("send buffer, as the kernel counts it", buffer));
    std::optional<std::size_t> receive_buffer_bytes =
        key<std::size_t>("receive_buffer_bytes", saying("receive buffer, as the kernel counts it", buffer));
    // The default is three of loopback's segments of 64 KiB. send() locks the socket until it returns. During a send()
    // of 1 MiB the acknowledgements would wait, and the sender's window would be used up.
    std::size_t send_chunk_bytes = key<std::size_t>("send_chunk_bytes", 192 << 10,
                                                    {.help = "largest number of bytes passed to one send()",
                                                     .least = 1,
                                                     .most = 1 << 30,
                                                     .type = NativeType::bytes});
  };

  explicit TcpSockets(const Settings& settings)
      : options(kit::read_native<Options>("tcp", settings)),
        interface(settings.interface),
        write_timeout(settings.write_timeout) {}

  [[nodiscard]] kit::Descriptor listener() const {
    kit::Descriptor socket = kit::open_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
    kit::bind_ipv4(socket.get(), interface);
    if (listen(socket.get(), SOMAXCONN) != 0) kit::fail("listen() on " + interface);
    return socket;
  }

  void tune(int fd) const {
    kit::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    kit::set_timeout(fd, SO_SNDTIMEO, write_timeout);
    if (options.timestamping) kit::stamp_arrivals(fd);
    if (options.send_buffer_bytes) kit::grow_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, *options.send_buffer_bytes);
    if (options.receive_buffer_bytes) kit::grow_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, *options.receive_buffer_bytes);
  }

  const Options options;
  const std::string interface;
  const std::chrono::nanoseconds write_timeout;
};

class Tcp {
 public:
  explicit Tcp(const Settings& settings)
      : sockets_(settings), links_(settings, sockets_.listener(), [this](int fd) { sockets_.tune(fd); }) {}

  [[nodiscard]] static Description describe() {
    return {.name = "tcp",
            .title = "TCP socket",
            .version = kit::kernel_release(),
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "tcp",
                            .carrier = "tcp",
                            .receive = {Reception::poll, Reception::block},
                            .reliability = {Reliability::reliable},
                            .varying_sizes = true,
                            .security_why = "it was built without OpenSSL 3 (Debian, Ubuntu: apt install libssl-dev)"}},
            .native = kit::native_table<TcpSockets::Options>()};
  }

  [[nodiscard]] kit::StreamPublisher publisher(const Topic& topic, unsigned index) {
    return {links_, topic, index, sockets_.options.send_chunk_bytes};
  }
  [[nodiscard]] kit::StreamSubscriber subscriber(const Topic& topic, unsigned index) {
    return {links_, topic, index, sockets_.options.timestamping};
  }

 private:
  const TcpSockets sockets_;
  kit::Links links_;
};

static_assert(fulfils_contract<Tcp> && HasArrivalStamp<kit::StreamSubscriber>);

}  // namespace middlemark
