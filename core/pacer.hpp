// Makes a sender wait until its next message is due. Hot file: after start() the code here does not allocate, lock, log
// or throw.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <middlemark/clock.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/schedule.hpp>

namespace middlemark {

/// Used by one thread:
///
///   pacer.start(now);
///   while (…) {
///     const std::uint64_t intended = pacer.next();
///     … write the message …
///     if (!pacer.wait(intended, stop)) break;
///     … publish …
///     pacer.sent(clock.ticks());
///   }
///
/// With `spins`, wait() reads the clock until the instant. Otherwise it sleeps until a margin before the instant and
/// spins for the rest. The margin adapts to the machine: a wake-up after the instant widens it by a quarter, and a
/// wake-up in time narrows it by a thousandth. So about one message in 250 is late.
///
/// With `load.sleeps` there is no margin: wait() sleeps until the instant, and the message is as late as the wake-up.
/// Graphs with some hundred messages per second use this, because spinning before each message would take more
/// processor time than all their other work.
///
/// A spin ends at the instant or at a stop request. Under a real-time priority, RLIMIT_RTTIME must be longer than the
/// trial, because that limit counts all time without a sleep.
class Pacer {
 public:
  /// `instants`: see Schedule.
  Pacer(const Clock& clock, const Load& load, bool spins, std::span<const std::uint64_t> instants = {}) noexcept
      : clock_(clock),
        schedule_(load, clock.ticks_per_second(), instants),
        spins_(spins),
        margin_(load.sleeps ? 0 : clock.to_ticks(100'000)),
        narrowest_(load.sleeps ? 0 : clock.to_ticks(5'000)),
        widest_(load.sleeps ? 0 : clock.to_ticks(250'000)),
        shortest_sleep_(load.sleeps ? 0 : clock.to_ticks(50'000)),
        preempted_(clock.to_ticks(50'000)) {}

  /// Starts the schedule at `ticks`. Keeps the margin that the previous schedule has adapted.
  void start(std::uint64_t ticks) noexcept {
    schedule_.start(ticks);
    returned_ = ticks;
    spinning_ticks_ = 0;
    sleep_ticks_ = 0;
    sleep_cost_ns_ = 0;
  }

  /// Returns the intended instant of the next message, in ticks: see Schedule::next(). If the rate is max, this is the
  /// current time.
  [[nodiscard]] std::uint64_t next() noexcept {
    return schedule_.next(schedule_.kind() == LoadKind::max ? clock_.ticks() : returned_);
  }

  /// Call after each publish, with the ticks at which it returned. Only bursts use this value.
  void sent(std::uint64_t ticks) noexcept { returned_ = ticks; }

  /// Waits until `instant`, and returns at once if it has passed. Returns false if a stop was requested; a sleeping
  /// sender notices this within 50 ms.
  bool wait(std::uint64_t instant, const StopSignal& stop) noexcept {
    std::uint64_t now = clock_.ticks();
    if (!spins_ && now < instant && instant - now >= shortest_sleep_) {
      if (!sleep_until_near(instant, stop)) return false;
      now = clock_.ticks();
    }
    while (now < instant) {
      if (stop.requested()) [[unlikely]]
        return false;
      const std::uint64_t before = std::exchange(now, clock_.ticks());
      // If two readings are further apart than this, the thread lost its processor in between. That time is not
      // spinning.
      if (now - before < preempted_) [[likely]]
        spinning_ticks_ += now - before;
    }
    return !stop.requested();
  }

  /// Processor time spent on waiting since the start. It is subtracted from the sender's cost.
  [[nodiscard]] std::uint64_t pacing_ticks() const noexcept {
    return spinning_ticks_ + clock_.to_ticks(sleep_cost_ns_);
  }
  /// Time since the start that wait() spent asleep, including the wait for a processor after the wake-up.
  [[nodiscard]] std::uint64_t sleeping_ticks() const noexcept {
    return sleep_ticks_ - std::min(sleep_ticks_, clock_.to_ticks(sleep_cost_ns_));
  }

  /// The mean time between two messages of a rate; 0 under max and burst.
  [[nodiscard]] std::uint64_t period_ticks() const noexcept { return schedule_.period_ticks(); }

  /// The number of instants due in [start, end): see Schedule::scheduled_until().
  [[nodiscard]] std::optional<std::uint64_t> scheduled_until(std::uint64_t end_ticks) const noexcept {
    return schedule_.scheduled_until(end_ticks);
  }

  /// The current margin: how long before an instant the sleep ends, in ticks.
  [[nodiscard]] std::uint64_t margin_ticks() const noexcept { return margin_; }

 private:
  static constexpr std::uint64_t longest_sleep_ns = 50'000'000;  ///< a stop request is noticed within this time

  [[nodiscard]] static std::uint64_t thread_cpu_ns() noexcept {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
  }

  bool sleep_until_near(std::uint64_t instant, const StopSignal& stop) noexcept {
    const std::uint64_t begin = clock_.ticks();
    const std::uint64_t cost_before = thread_cpu_ns();
    bool slept = false;
    for (;;) {
      // Read the clocks in this order, so that an interruption between the readings shortens the sleep. Read both again
      // before each sleep, because they drift apart by some µs per second.
      const std::uint64_t now_ns = monotonic_ns();
      const std::uint64_t now = clock_.ticks();
      if (now + margin_ >= instant || stop.requested()) break;
      const std::uint64_t until = now_ns + std::min(clock_.to_ns(instant - margin_ - now), longest_sleep_ns);
      const timespec wake{static_cast<time_t>(until / 1'000'000'000U), static_cast<long>(until % 1'000'000'000U)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
      slept = true;
    }
    sleep_cost_ns_ += thread_cpu_ns() - cost_before;
    const std::uint64_t end = clock_.ticks();
    sleep_ticks_ += end - begin;
    if (!slept || end <= instant) {
      // Narrow the margin even if wait() did not sleep. Otherwise a margin longer than the period would never shrink.
      margin_ = std::max(margin_ - margin_ / 1024, narrowest_);
    } else if (end - instant < widest_) {  // if later still, other threads had the processor: no margin helps
      margin_ = std::min(margin_ + margin_ / 4, widest_);
    }
    return !stop.requested();
  }

  const Clock clock_;
  Schedule schedule_;
  const bool spins_;
  std::uint64_t margin_;
  const std::uint64_t narrowest_;
  const std::uint64_t widest_;
  const std::uint64_t shortest_sleep_;
  const std::uint64_t preempted_;
  std::uint64_t returned_ = 0;
  std::uint64_t spinning_ticks_ = 0;
  std::uint64_t sleep_ticks_ = 0;    ///< total time in sleep_until_near()
  std::uint64_t sleep_cost_ns_ = 0;  ///< the part of sleep_ticks_ spent on the processor
};

}  // namespace middlemark
