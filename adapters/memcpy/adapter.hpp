// Measures the cost of copying the bytes: one thread copies a message out and back. A transport that copies a message
// in each direction cannot be faster.
#pragma once

#include <gnu/libc-version.h>

#include <memory>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>

#include "copies.hpp"

namespace middlemark {

class Memcpy {
 public:
  using Publisher = copies::Publisher;
  using Subscriber = copies::Subscriber;

  explicit Memcpy(const Settings& settings) : mirror_(std::make_shared<copies::Mirror>(settings.message_bytes)) {}

  [[nodiscard]] static Description describe() {
    return {.name = "memcpy",
            .title = "Copying out and back in one process",
            .version = std::string("glibc ") + gnu_get_libc_version(),
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "memcpy",
                            .carrier = "process-memory",
                            .processes = {1},
                            .receive = {Reception::poll},
                            .reliability = {Reliability::reliable},
                            .max_depth = 1,
                            .keep_all = false,
                            .alone = true}}};
  }

  /// The ping's thread uses both the publisher and the subscriber.
  Publisher publisher(const Topic& /*topic*/, unsigned /*index*/) { return Publisher(mirror_); }
  Subscriber subscriber(const Topic& /*topic*/, unsigned /*index*/) { return Subscriber(mirror_); }

 private:
  std::shared_ptr<copies::Mirror> mirror_;
};

static_assert(fulfils_contract<Memcpy>);

}  // namespace middlemark
