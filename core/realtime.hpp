// Converts the kernel's CLOCK_REALTIME receive stamps to durations of the roles' clock.
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

/// Returns how long before the reading `at_ticks` of `clock` the CLOCK_REALTIME instant `instant_ns` was, limited by
/// clamp_ns(). Returns absent_ns if `instant_ns` is 0 or not before the reading. Reads both clocks now, one between two
/// readings of the other; the error is half of that bracket, about one reading. Call soon after the instants.
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
