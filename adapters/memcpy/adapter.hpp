// The floor below the floors: what merely touching the bytes costs. One thread copies a message out and back, and nobody else
// takes part.
#pragma once

#include <gnu/libc-version.h>

#include <memory>
#include <string>

#include <middlemark/adapter.hpp>

#include "copies.hpp"

namespace middlemark {

class Memcpy {
 public:
  using Publisher = copies::Publisher;
  using Subscriber = copies::Subscriber;

  explicit Memcpy(const Settings& settings) : mirror_(std::make_shared<copies::Mirror>(settings.message_bytes)) {}

  [[nodiscard]] static Description describe() {
    Description about;
    about.name = "memcpy";
    about.title = "Copying out and back in one process (floor)";
    about.version = std::string("glibc ") + gnu_get_libc_version();
    about.licence = "Apache-2.0";
    about.floor = true;
    Transport transport;
    transport.name = "memcpy";
    transport.carrier = "process-memory";
    transport.alone = true;
    transport.processes = {1};
    transport.receive = {"poll"};
    transport.reliability = {"reliable"};
    transport.max_depth = 1;
    transport.keep_all = false;
    about.transports = {transport};
    return about;
  }

  /// Both are the ping's, and used by its thread alone.
  Publisher publisher(const Topic& /*topic*/, unsigned /*index*/) { return Publisher(mirror_); }
  Subscriber subscriber(const Topic& /*topic*/, unsigned /*index*/) { return Subscriber(mirror_); }

 private:
  std::shared_ptr<copies::Mirror> mirror_;
};

static_assert(Adapter<Memcpy>);

}  // namespace middlemark
