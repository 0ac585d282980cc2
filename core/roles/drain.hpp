// Decides when a stopped receiver may end: when all messages have arrived, or when none arrive any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <middlemark/clock.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

class Drain {
 public:
  /// Time without a message after which no more messages are expected. It is longer under `reliable`, because lost
  /// messages are sent again only at the middleware's next heartbeat.
  static constexpr std::uint64_t quiet_reliable_ns = 1'000'000'000;
  static constexpr std::uint64_t quiet_best_effort_ns = 250'000'000;
  /// Time without a message after which a transient-local history counts as incomplete. It is long because on a busy
  /// machine threads that poll can keep the middleware's threads waiting for a lock for a second.
  static constexpr std::uint64_t quiet_history_ns = 5'000'000'000;
  static constexpr std::uint64_t limit_s = 10;

  explicit Drain(std::uint64_t quiet_ns) noexcept : quiet_ns_(quiet_ns) {}
  /// `resends_within`: see ResendsWithin.
  explicit Drain(Reliability reliability, std::chrono::nanoseconds resends_within = {}) noexcept
      : Drain(reliability == Reliability::reliable
                  ? quiet_reliable_ns + static_cast<std::uint64_t>(resends_within.count())
                  : quiet_best_effort_ns) {}

  /// Call repeatedly after the stop was requested. Returns nullopt while messages may still arrive. `warm_ups`: the
  /// number of warm-up messages received so far. While it rises, messages still arrive, even if the buffers so far
  /// contained only warm-up messages.
  [[nodiscard]] std::optional<Ended> ended(std::uint64_t expected, std::uint64_t received,
                                           std::uint64_t warm_ups) noexcept {
    if (expected == nothing_expected) return Ended::stopped;
    if (received >= expected) return Ended::complete;
    const std::uint64_t now = monotonic_ns();
    if (begun_ns_ == 0) begun_ns_ = now;
    if (received + warm_ups != seen_ || changed_ns_ == 0) {
      seen_ = received + warm_ups;
      changed_ns_ = now;
    }
    if (now - changed_ns_ >= quiet_ns_) return Ended::quiet;
    if (now - begun_ns_ >= limit_s * 1'000'000'000) return Ended::limit;
    return std::nullopt;
  }

 private:
  std::uint64_t quiet_ns_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t changed_ns_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace middlemark
