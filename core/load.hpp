// The load a sender offers: as fast as possible, at a rate, or in bursts. A plain value, read by the control thread.
#pragma once

#include <cstdint>

namespace middlemark {

struct Load {
  enum class Kind { max, rate, burst };

  Kind kind = Kind::max;
  double rate_hz = 0;       ///< rate: messages a second (> 0), open loop
  bool poisson = false;     ///< rate: arrivals of a Poisson process of that mean instead of periodic ones
  std::uint64_t seed = 0;   ///< poisson: of the arrivals; two senders of one trial want different ones
  std::uint64_t burst = 0;  ///< burst: messages (>= 1) sent back to back
  double recovery_s = 0;    ///< burst: pause between the end of one burst and the next (>= 0)
};

}  // namespace middlemark
