#include <middlemark/clock.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

namespace middlemark {
namespace {

#if defined(__x86_64__)
/// Returns whether the TSC can be trusted. If the kernel uses the TSC as its clock, all processors count the same time.
/// The processor's flags say that the TSC keeps its rate (constant_tsc) and never stops (nonstop_tsc).
bool kernel_uses_tsc() {
  std::ifstream current("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  if (!(current >> name) || name != "tsc") return false;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("flags")) {
      return line.find(" constant_tsc") != std::string::npos && line.find(" nonstop_tsc") != std::string::npos;
    }
  }
  return false;
}
#endif

struct BothClocks {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

/// Reads both clocks at the same instant. Reads the ticks before and after CLOCK_MONOTONIC, 64 times, and keeps the
/// reading with the shortest time between the ticks, because an interruption would lengthen it.
BothClocks read_both(const Clock& clock) {
  BothClocks best;
  std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = clock.ticks();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t after = clock.ticks();
    if (after - before < tightest) {
      tightest = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

}  // namespace

Clock Clock::calibrate(unsigned calibration_ms, bool force_monotonic) {
  Clock clock;
#if defined(__x86_64__)
  if (!force_monotonic && kernel_uses_tsc()) {
    clock.counter_ = true;
    clock.source_ = ClockSource::tsc;
  }
#elif defined(__aarch64__)
  if (!force_monotonic) {
    clock.counter_ = true;
    clock.source_ = ClockSource::cntvct;
  }
#endif
  const BothClocks begin = read_both(clock);
  if (clock.counter_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::max(1U, calibration_ms)));
    const BothClocks end = read_both(clock);
    const auto ticks = static_cast<long double>(end.ticks - begin.ticks);
    const auto ns = static_cast<long double>(end.ns - begin.ns);
    clock.ticks_per_second_ = static_cast<double>(ticks / ns * 1e9L);
    clock.multiplier_ = static_cast<std::uint64_t>(std::roundl(ns / ticks * static_cast<long double>(1ULL << shift)));
  }
  clock.base_ticks_ = begin.ticks;
  clock.base_ns_ = clock.counter_ ? begin.ns : begin.ticks;  // without a counter, ticks are CLOCK_MONOTONIC
  clock.measure_cost();
  return clock;
}

void Clock::measure_cost() {
  std::array<std::uint64_t, 512> gaps{};
  std::uint64_t previous = ticks();
  for (std::uint64_t& gap : gaps) {
    const std::uint64_t now = ticks();
    gap = now - previous;
    previous = now;
  }
  // Some processors advance the counter by more than one tick, so the resolution is the greatest common divisor of the
  // gaps.
  std::uint64_t stride = 0;
  for (const std::uint64_t gap : gaps) stride = std::gcd(stride, gap);
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  const double ns_per_tick = 1e9 / ticks_per_second_;
  cost_ns_ = static_cast<double>(gaps[gaps.size() / 2]) * ns_per_tick;
  resolution_ns_ = static_cast<double>(std::max<std::uint64_t>(1, stride)) * ns_per_tick;
}

std::string Clock::source_name() const {
  switch (source_) {
    case ClockSource::tsc:
      return "tsc";
    case ClockSource::cntvct:
      return "cntvct";
    case ClockSource::monotonic:
      break;
  }
  return "clock_monotonic";
}

}  // namespace middlemark
