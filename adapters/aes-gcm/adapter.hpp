// The raw cost of encryption: AES-256-GCM of each message. One thread encrypts a message and decrypts it again; there
// is no other process or thread.
#pragma once

#include <openssl/crypto.h>

#include <memory>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "seals.hpp"

namespace middlemark {

class AesGcm {
 public:
  using Publisher = seals::Publisher;
  using Subscriber = seals::Subscriber;

  explicit AesGcm(const Settings& settings) : mirror_(std::make_shared<seals::Mirror>(settings.message_bytes)) {}

  [[nodiscard]] static Description describe() {
    return {.name = "aes-gcm",
            .title = "Encrypting and decrypting in one process",
            .version = OpenSSL_version(OPENSSL_VERSION_STRING),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&OpenSSL_version)).path,
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "aes-gcm",
                            .carrier = "process-memory",
                            .processes = {1},
                            .receive = {Reception::poll},
                            .reliability = {Reliability::reliable},
                            .max_depth = 1,
                            .keep_all = false,
                            .alone = true,
                            .security = {Security::encrypted},
                            .security_why = "this adapter only encrypts and decrypts"}}};
  }

  /// One thread, the ping's, uses both the publisher and the subscriber.
  Publisher publisher(const Topic& /*topic*/, unsigned /*index*/) { return Publisher(mirror_); }
  Subscriber subscriber(const Topic& /*topic*/, unsigned /*index*/) { return Subscriber(mirror_); }

  [[nodiscard]] std::string protected_by() const {
    return std::string("AES-256-GCM of OpenSSL ") + OpenSSL_version(OPENSSL_VERSION_STRING);
  }

 private:
  std::shared_ptr<seals::Mirror> mirror_;
};

static_assert(fulfils_contract<AesGcm>);

}  // namespace middlemark
