// LCM over UDP multicast. README.md says how each setting becomes one of the middleware's own.
#pragma once

#include <lcm/lcm.h>

#include <algorithm>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "ends.hpp"
#include "options.hpp"
#include "sockets.hpp"

namespace middlemark {

class Lcm {
 public:
  explicit Lcm(const Settings& settings) : settings_(settings), options_(settings), group_(settings) {}

  [[nodiscard]] static Description describe() {
    Description description;
    description.name = "lcm";
    description.title = "LCM";
    // The library cannot be asked, and the number in its file's name is libtool's.
    description.version = std::to_string(LCM_MAJOR_VERSION) + '.' + std::to_string(LCM_MINOR_VERSION) + '.' +
                          std::to_string(LCM_MICRO_VERSION);
    description.library = loaded_library(reinterpret_cast<const void*>(&lcm_create)).path;
    description.licence = "LGPL-2.1-or-later";
    description.own_threads = true;
    Transport udp;
    udp.name = "udp";
    udp.carrier = "udp";
    udp.receive = {"poll", "block"};
    udp.reliability = {"best-effort"};
    // Nothing paces the fragments of a message, so that all of it must fit the receive buffer. 1 MiB goes through smaller
    // ones too, with losses.
    const std::size_t buffer = lcm::largest_receive_buffer();
    udp.max_bytes = std::clamp(buffer, std::size_t{1} << 20, std::size_t{64} << 20);
    if (udp.max_bytes == buffer) udp.max_bytes_advice = "sudo sysctl -w net.core.rmem_max=67108864";
    description.transports = {udp};
    description.native = lcm::Options::keys();
    return description;
  }

  [[nodiscard]] lcm::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    return {group_, options_, settings_, topic};
  }
  [[nodiscard]] lcm::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {group_, options_, settings_, topic, index};
  }

  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  const Settings settings_;
  const lcm::Options options_;
  const lcm::Group group_;
};

static_assert(Adapter<Lcm> && HasNotes<Lcm>);

}  // namespace middlemark
