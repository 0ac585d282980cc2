// Computes when each message of a load is due. Hot file: next() does not allocate, lock, log or throw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Intended instants in ticks of the sender's clock. With a rate, message i (from 0) is due at start + i * period, so a
/// late message never delays later ones. Offsets have 64 fractional bits, so the schedule does not drift by a tick even
/// after very many messages. The first arrival of a Poisson process is one gap after the start. Recorded instants
/// repeat every lap.
class Schedule {
 public:
  /// `instants`: recorded instants in ticks from the start, smaller than one lap; they must outlive the schedule. If
  /// empty, the load determines the instants.
  Schedule(const Load& load, double ticks_per_second, std::span<const std::uint64_t> instants = {}) noexcept
      : load_(load),
        instants_(instants),
        lap_ticks_(static_cast<std::uint64_t>(static_cast<double>(load.lap_ns) * ticks_per_second / 1e9)),
        recovery_(static_cast<std::uint64_t>(std::clamp(load.recovery_s * ticks_per_second, 0.0, longest))) {
    if (load_.kind != LoadKind::rate) return;
    // long double has 64 bits (112 on ARM), which is precise enough for any schedule.
    const long double period = static_cast<long double>(ticks_per_second) / static_cast<long double>(load_.rate_hz);
    const long double possible = period > 0 ? std::min<long double>(period, longest) : 0.0L;
    mean_ticks_ = static_cast<double>(possible);
    period_ = std::max<Fixed>(1, static_cast<Fixed>(std::ldexp(possible, point) + 0.5L));
  }

  /// Restarts at `ticks` with the same random arrivals.
  void start(std::uint64_t ticks) noexcept {
    start_ = ticks;
    offset_ = 0;
    random_ = load_.seed;
    first_ = true;
    in_burst_ = 0;
    place_ = 0;
    lap_ = 0;
  }

  /// Returns when the next message is due. Max: `now`. Rate: as described above, independent of `now`. Burst: `now` is
  /// the instant at which the previous publish returned. The first burst begins at the start, and each later burst
  /// `recovery` after `now`; within a burst the next message is due at `now`.
  [[nodiscard]] std::uint64_t next(std::uint64_t now) noexcept {
    switch (load_.kind) {
      case LoadKind::max:
        break;
      case LoadKind::rate:
        if (!instants_.empty()) {
          const std::uint64_t instant = start_ + lap_ + instants_[place_];
          if (++place_ == instants_.size()) {
            place_ = 0;
            lap_ += lap_ticks_;
          }
          return instant;
        }
        if (load_.arrivals == Arrivals::poisson) {
          offset_ += gap();
        } else if (!first_) {
          offset_ += period_;
        }
        first_ = false;
        return start_ + rounded(offset_);
      case LoadKind::burst: {
        const bool begins = in_burst_ == 0;
        if (++in_burst_ >= load_.burst) in_burst_ = 0;
        if (!begins) break;
        return std::exchange(first_, false) ? start_ : now + recovery_;
      }
    }
    return now;
  }

  [[nodiscard]] LoadKind kind() const noexcept { return load_.kind; }
  /// The mean period of a rate; 0 for max and burst.
  [[nodiscard]] std::uint64_t period_ticks() const noexcept { return static_cast<std::uint64_t>(mean_ticks_); }

  /// Returns how many instants of a rate lie in [start, end), whether next() has returned them or not. Returns nullopt
  /// for max and burst, whose instants depend on when publish() returns. The number is exact: it is computed by division
  /// for periodic arrivals, and by drawing the arrivals again for a Poisson process, at about 20 ns per instant.
  [[nodiscard]] std::optional<std::uint64_t> scheduled_until(std::uint64_t end) const noexcept {
    if (load_.kind != LoadKind::rate) return std::nullopt;
    if (end <= start_) return 0;
    if (!instants_.empty()) {
      const std::uint64_t passed = end - start_;
      const auto below = std::ranges::lower_bound(instants_, passed % lap_ticks_) - instants_.begin();
      return passed / lap_ticks_ * instants_.size() + static_cast<std::uint64_t>(below);
    }
    if (load_.arrivals != Arrivals::poisson) {
      const Fixed before =
          (static_cast<Fixed>(end - start_) << point) - half;  // a smaller offset is rounded to less than end - start_
      return static_cast<std::uint64_t>((before - 1) / period_ + 1);
    }
    Schedule again = *this;
    again.start(start_);
    std::uint64_t instants = 0;
    while (again.next(0) < end) ++instants;
    return instants;
  }

 private:
  using Fixed = unsigned __int128;

  static constexpr int point = 64;  ///< fractional bits of a Fixed
  static constexpr Fixed half = Fixed{1} << (point - 1);
  static constexpr double longest =
      0x1p56;  ///< ticks (months); the longest gap that can be drawn, 37 such periods, still fits a Fixed

  [[nodiscard]] static constexpr std::uint64_t rounded(Fixed ticks) noexcept {
    return static_cast<std::uint64_t>((ticks + half) >> point);
  }

  /// Draws an exponentially distributed gap with the mean of a period, by inversion.
  [[nodiscard]] Fixed gap() noexcept {
    const double uniform = static_cast<double>((draw() >> 11) + 1) * 0x1p-53;  // (0, 1]
    return static_cast<Fixed>(-std::log(uniform) * mean_ticks_ * 0x1p64);
  }

  /// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). Its state has 8
  /// bytes. The Mersenne Twister refills a large state from time to time, which would delay a message.
  [[nodiscard]] std::uint64_t draw() noexcept {
    random_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = random_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }

  Load load_;
  std::span<const std::uint64_t> instants_;
  std::uint64_t lap_ticks_;
  std::uint64_t recovery_;
  double mean_ticks_ = 0;
  Fixed period_ = 1;
  std::uint64_t start_ = 0;
  Fixed offset_ = 0;
  std::uint64_t random_ = 0;
  bool first_ = true;
  std::uint64_t in_burst_ = 0;  ///< instants returned of the current burst; 0: the next message begins a burst
  std::size_t place_ = 0;       ///< index of the next recorded instant
  std::uint64_t lap_ = 0;       ///< ticks from the start to the current lap
};

}  // namespace middlemark
