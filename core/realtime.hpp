// Converts the kernel's receive stamps, in CLOCK_REALTIME, to durations that end at a reading of the role's clock.
#pragma once

#include <time.h>

#include <cstdint>

#include <middlemark/clock.hpp>
#include <middlemark/recorder.hpp>

namespace middlemark {

/// CLOCK_REALTIME in ns.
[[nodiscard]] inline std::uint64_t realtime_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns the time from `instant_ns` (CLOCK_REALTIME) to the reading `at_ticks` of `clock`, in ns, limited by
/// clamp_ns(). Returns absent_ns if `instant_ns` is 0 or after the reading. Relates the two clocks by reading
/// CLOCK_REALTIME between two readings of `clock`; the error is about the duration of one reading. Call soon after
/// `at_ticks`, since the clocks drift apart.
[[nodiscard]] inline std::uint32_t since_realtime_ns(const Clock& clock, std::uint64_t instant_ns,
                                                     std::uint64_t at_ticks) noexcept {
  if (instant_ns == 0) return absent_ns;
  const std::uint64_t before = clock.ticks();
  const std::uint64_t now_ns = realtime_ns();
  const std::uint64_t after = clock.ticks();
  const std::uint64_t since_ns = clock.to_ns(before + (after - before) / 2 - at_ticks);
  if (now_ns < instant_ns || now_ns - instant_ns < since_ns) return absent_ns;
  return clamp_ns(now_ns - instant_ns - since_ns);
}

}  // namespace middlemark
