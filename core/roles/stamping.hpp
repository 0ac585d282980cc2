// How many of a publisher's messages are stamped when it sends as fast as it can.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace middlemark {

/// A stride shares no factor with a ring's slots or a batch's messages: all of their places are met alike.
inline constexpr std::array<unsigned, 9> stamp_strides{3, 7, 13, 31, 61, 127, 251, 509, 1021};

/// What a stamped message takes longer, in readings of the clock. The publisher has two, and each waits until all that the
/// processor has under way is done: 60 ns a stamped message where a reading takes 20. The subscriber has one.
inline constexpr double stamped_message_readings = 4;
/// Of these, what a message of the warm-up has, every one of which is stamped.
inline constexpr double warm_up_message_readings = 2;

/// Of how many messages the first is stamped at both ends. 1, every one, while a reading costs less than a twentieth of what a
/// message takes; otherwise so many that stamps cost a hundredth, or the longest stride there is: stamping all would measure
/// the clock. `messages` took `elapsed_ns`, their stamps included.
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
