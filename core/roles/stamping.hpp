// Chooses how many messages a publisher stamps when it sends as fast as it can.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace middlemark {

/// Strides that share no factor with a ring's number of slots or with usual batch sizes, so that all positions are
/// stamped equally often.
inline constexpr std::array<unsigned, 9> stamp_strides{3, 7, 13, 31, 61, 127, 251, 509, 1021};

/// How much longer a stamped message takes, in clock readings. The publisher reads the clock twice, and each reading
/// waits for all pending instructions: together about 60 ns where one reading takes 20. The subscriber reads it once.
inline constexpr double stamped_message_readings = 4;
/// The share of warm-up messages, each of which is stamped by the publisher.
inline constexpr double warm_up_message_readings = 2;

/// Returns the stride: the first of that many messages is stamped at both ends. 1 (every message) while a reading costs
/// less than 1/20 of a message; otherwise the shortest stride with which stamps cost at most 1/100, or else the
/// longest. Stamping every message would then measure the clock. `elapsed_ns` is the duration of `messages` stamped
/// messages.
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
