// Chooses how many messages a publisher stamps when it sends as fast as it can.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace middlemark {

/// The possible strides. They share no factor with usual batch sizes or numbers of slots of a ring, so that all
/// positions of a batch or ring are stamped equally often.
inline constexpr std::array<unsigned, 9> stamp_strides{3, 7, 13, 31, 61, 127, 251, 509, 1021};

/// How much longer a stamped message takes, in clock readings. The publisher reads the clock twice. Each of these
/// readings waits for all pending instructions, so the two take as long as three other readings. The subscriber reads
/// the clock once.
inline constexpr double stamped_message_readings = 4;
/// How much longer a warm-up message takes because the publisher stamps all of them, in clock readings.
inline constexpr double warm_up_message_readings = 2;

/// Returns the stride: of each `stride` messages, the first is stamped by the publisher and the subscriber. It is 1
/// (every message) if a clock reading takes less than 1/20 of the time of a message. Otherwise it is the shortest stride
/// with which stamps take at most 1/100 of the time, or else the longest; stamping every message would measure the
/// clock. `elapsed_ns` is the duration of `messages` stamped messages.
[[nodiscard]] constexpr unsigned stamp_stride(double reading_ns, std::uint64_t elapsed_ns,
                                              std::uint64_t messages) noexcept {
  if (messages == 0) return 1;
  const double stamped_ns = static_cast<double>(elapsed_ns) / static_cast<double>(messages);
  const double message_ns = std::max(1.0, stamped_ns - warm_up_message_readings * reading_ns);
  if (reading_ns / message_ns < 0.05) return 1;
  for (const unsigned stride : stamp_strides) {
    if (stamped_message_readings * reading_ns / message_ns / stride <= 0.01) return stride;
  }
  return stamp_strides.back();
}

}  // namespace middlemark
