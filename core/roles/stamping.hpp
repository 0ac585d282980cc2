// How many of a publisher's messages are stamped when it sends as fast as it can.
#pragma once

#include <array>
#include <cstdint>

namespace middlemark {

/// A stride shares no factor with a ring's slots or a batch's messages: all of their places are met alike.
inline constexpr std::array<unsigned, 5> stamp_strides{3, 7, 13, 31, 61};

/// Of how many messages the first is stamped at both ends. 1, every one, while a stamp costs less than a twentieth of what a
/// message takes; otherwise so many that stamps cost a hundredth, or the longest stride there is: stamping all would measure
/// the clock. `messages` took `elapsed_ns`, stamps included.
[[nodiscard]] constexpr unsigned stamp_stride(double stamp_ns, std::uint64_t elapsed_ns,
                                              std::uint64_t messages) noexcept {
  if (messages == 0) return 1;
  const double part = stamp_ns * static_cast<double>(messages) / static_cast<double>(elapsed_ns);
  if (part < 0.05) return 1;
  for (const unsigned stride : stamp_strides) {
    if (part / stride <= 0.01) return stride;
  }
  return stamp_strides.back();
}

}  // namespace middlemark
