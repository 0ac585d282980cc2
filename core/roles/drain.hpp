// When a receiver that has been told to stop may end: everything has come, or nothing comes any more.
#pragma once

#include <cstdint>

#include <middlemark/clock.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

class Drain {
 public:
  /// A reliable middleware resends what was lost, after as long as its heartbeats are apart.
  static constexpr std::uint64_t quiet_reliable_ns = 1'000'000'000;
  static constexpr std::uint64_t quiet_best_effort_ns = 250'000'000;
  static constexpr std::uint64_t limit_ns = 10'000'000'000;

  explicit Drain(Reliability reliability) noexcept
      : quiet_ns_(reliability == Reliability::reliable ? quiet_reliable_ns : quiet_best_effort_ns) {}

  /// To be asked again and again once the stop was requested; null while messages may still come. `rehearsed`: of the warm-up,
  /// which may lie in deep buffers before those that are expected.
  [[nodiscard]] const char* ended(std::uint64_t expected, std::uint64_t received, std::uint64_t rehearsed) noexcept {
    if (expected == nothing_expected) return "stopped";
    if (received >= expected) return "complete";
    const std::uint64_t now = monotonic_ns();
    if (begun_ns_ == 0) begun_ns_ = now;
    if (received + rehearsed != seen_ || changed_ns_ == 0) {
      seen_ = received + rehearsed;
      changed_ns_ = now;
    }
    if (now - changed_ns_ >= quiet_ns_) return "quiet";
    return now - begun_ns_ >= limit_ns ? "limit" : nullptr;
  }

 private:
  std::uint64_t quiet_ns_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t changed_ns_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace middlemark
