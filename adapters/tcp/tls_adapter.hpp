// The raw transport for TLS over TCP: OpenSSL's TLS 1.3 over the connections of adapter.hpp.
#pragma once

#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>

#include "adapter.hpp"
#include "tls.hpp"
#include "tls_ends.hpp"

namespace middlemark {

class TcpWithTls {
 public:
  explicit TcpWithTls(const Settings& settings)
      : sockets_(settings),
        write_timeout_(settings.write_timeout),
        links_(settings, sockets_.listener(), [this](int fd) { sockets_.tune(fd); }),
        channels_(settings, links_) {
    if (sockets_.options.timestamping) {
      throw AdapterError(
          "tcp: native.timestamping: with TLS, OpenSSL receives and does not report when a packet arrived",
          "leave it out, or measure it with --security none");
    }
  }

  [[nodiscard]] static Description describe() {
    Description about = Tcp::describe();
    about.credentials = {Credential::x509};
    for (Transport& transport : about.transports) {
      transport.security = {Security::none, Security::encrypted};
      transport.security_why = "TLS 1.3 always encrypts";
    }
    return about;
  }

  [[nodiscard]] tls::Publisher publisher(const Topic& topic, unsigned index) {
    return {{links_, channels_}, topic, index, write_timeout_};
  }
  [[nodiscard]] tls::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {{links_, channels_}, topic, index};
  }

  [[nodiscard]] std::string protected_by() const { return channels_.protected_by(); }

 private:
  const TcpSockets sockets_;
  const std::chrono::nanoseconds write_timeout_;
  kit::Links links_;
  tls::Channels channels_;
};

static_assert(fulfils_contract<TcpWithTls>);

}  // namespace middlemark
