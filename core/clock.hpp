// The clock of all measurements: the TSC if the kernel uses it as its clock, CNTVCT on ARM, or else CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace middlemark {

/// CLOCK_MONOTONIC in ns.
[[nodiscard]] inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

enum class ClockSource { tsc, cntvct, monotonic };

/// Reads ticks and converts them. Copyable; each role keeps a copy next to its hot data.
class Clock {
 public:
  /// Chooses the source and calibrates it against CLOCK_MONOTONIC; takes about `calibration_ms` (>= 1).
  /// `force_monotonic` is for tests and for machines whose TSC is not trusted (MIDDLEMARK_CLOCK=monotonic).
  [[nodiscard]] static Clock calibrate(unsigned calibration_ms, bool force_monotonic);

  /// Returns the current ticks after all earlier loads have completed (lfence on x86). Without the fence, the stamp of
  /// an arrival could be read before the message.
  [[nodiscard]] std::uint64_t ticks() const noexcept {
#if defined(__x86_64__)
    if (counter_) [[likely]] {
      _mm_lfence();
      const std::uint64_t now = __rdtsc();
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return now;
    }
#elif defined(__aarch64__)
    if (counter_) [[likely]] {
      std::uint64_t now = 0;
      asm volatile("isb; mrs %0, cntvct_el0" : "=r"(now)::"memory");
      return now;
    }
#endif
    return monotonic_ns();
  }

  /// Returns the current ticks without waiting for earlier loads. Waiting would delay a poll that begins with this
  /// reading.
  [[nodiscard]] std::uint64_t early_ticks() const noexcept {
#if defined(__x86_64__)
    if (counter_) [[likely]] {
      const std::uint64_t now = __rdtsc();
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return now;
    }
#endif
    return ticks();
  }

  /// Converts a difference of ticks to ns, as exactly as the calibration allows; at most 2^64 - 1.
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks) * multiplier_) >> shift);
  }
  [[nodiscard]] std::uint64_t to_ticks(std::uint64_t ns) const noexcept {
    return static_cast<std::uint64_t>(static_cast<long double>(ns) * static_cast<long double>(ticks_per_second_) /
                                      1e9L);
  }
  [[nodiscard]] std::uint64_t to_monotonic_ns(std::uint64_t at_ticks) const noexcept {
    return at_ticks >= base_ticks_ ? base_ns_ + to_ns(at_ticks - base_ticks_)
                                   : base_ns_ - to_ns(base_ticks_ - at_ticks);
  }

  [[nodiscard]] ClockSource source() const noexcept { return source_; }
  [[nodiscard]] std::string source_name() const;
  [[nodiscard]] double ticks_per_second() const noexcept { return ticks_per_second_; }
  /// The median duration of a call of ticks(), measured at calibration. resolution_ns() is the smallest difference
  /// between two readings.
  [[nodiscard]] double cost_ns() const noexcept { return cost_ns_; }
  [[nodiscard]] double resolution_ns() const noexcept { return resolution_ns_; }

 private:
  static constexpr unsigned shift = 44;

  void measure_cost();

  bool counter_ = false;
  ClockSource source_ = ClockSource::monotonic;
  std::uint64_t multiplier_ = std::uint64_t{1} << shift;
  double ticks_per_second_ = 1e9;
  std::uint64_t base_ticks_ = 0;
  std::uint64_t base_ns_ = 0;
  double cost_ns_ = 0;
  double resolution_ns_ = 0;
};

}  // namespace middlemark
