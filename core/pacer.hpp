// Holds a sender to its schedule. Hot file: after start() nothing here allocates, locks, logs or throws.
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
/// One that spins reads the clock until the instant; else it sleeps until shortly before and spins the rest. How shortly
/// follows what this machine's wake-ups overshoot: one after the instant widens the margin by a quarter, one in time narrows
/// it by a thousandth, so that about one in 250 is late. Under `load.sleeps` it sleeps until the instant, and is as late as
/// this machine's wake-ups are: a spin for each of some hundred messages a second costs more than all else. A spin is bounded by its instant and by the stop; under a real-time
/// priority RLIMIT_RTTIME, which counts what was not slept, must allow for the whole trial.
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
        worth_sleeping_(load.sleeps ? 0 : clock.to_ticks(50'000)),
        preempted_(clock.to_ticks(50'000)) {}

  /// The schedule begins at `ticks`. What was learnt of the machine's wake-ups is kept from an earlier start.
  void start(std::uint64_t ticks) noexcept {
    schedule_.start(ticks);
    returned_ = ticks;
    spinning_ticks_ = 0;
    off_ticks_ = 0;
    sleep_cost_ns_ = 0;
  }

  /// The intended instant of the next message, in ticks: see Schedule::next(). Under max it is now.
  [[nodiscard]] std::uint64_t next() noexcept {
    return schedule_.next(schedule_.kind() == LoadKind::max ? clock_.ticks() : returned_);
  }

  /// The last publish returned at `ticks`: what the bursts need, and nothing else.
  void sent(std::uint64_t ticks) noexcept { returned_ = ticks; }

  /// Returns when `instant` has come, at once when it has passed. False: stop was requested, whether the instant has come or
  /// not; seen within 50 ms.
  bool wait(std::uint64_t instant, const StopSignal& stop) noexcept {
    std::uint64_t now = clock_.ticks();
    if (!spins_ && now < instant && instant - now >= worth_sleeping_) {
      if (!sleep_until_near(instant, stop)) return false;
      now = clock_.ticks();
    }
    while (now < instant) {
      if (stop.requested()) [[unlikely]]
        return false;
      const std::uint64_t before = std::exchange(now, clock_.ticks());
      // A reading that took so long was not this thread's time: another had the processor.
      if (now - before < preempted_) [[likely]]
        spinning_ticks_ += now - before;
    }
    return !stop.requested();
  }

  /// Processor time that waiting has cost since the start: all spinning, and what going to sleep and waking took. To be taken
  /// off the sender's own cost.
  [[nodiscard]] std::uint64_t pacing_ticks() const noexcept {
    return spinning_ticks_ + clock_.to_ticks(sleep_cost_ns_);
  }
  /// Time since the start that waiting spent off the processor (after the wake-up: waiting for it).
  [[nodiscard]] std::uint64_t sleeping_ticks() const noexcept {
    return off_ticks_ - std::min(off_ticks_, clock_.to_ticks(sleep_cost_ns_));
  }

  /// Between two messages of a rate, on average; 0 under max and burst.
  [[nodiscard]] std::uint64_t period_ticks() const noexcept { return schedule_.period_ticks(); }

  /// How many instants were due in [start, end): see Schedule::scheduled_until().
  [[nodiscard]] std::optional<std::uint64_t> scheduled_until(std::uint64_t end_ticks) const noexcept {
    return schedule_.scheduled_until(end_ticks);
  }

  /// How long before an instant a sleeper is woken now, in ticks.
  [[nodiscard]] std::uint64_t margin_ticks() const noexcept { return margin_; }

 private:
  static constexpr std::uint64_t longest_sleep_ns = 50'000'000;  ///< a stop is seen after at most this

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
      // This order: an interruption between the two readings makes the sleep shorter, never longer. And both anew for each
      // piece: the two clocks part by some µs a second.
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
    off_ticks_ += end - begin;
    if (!slept || end <= instant) {
      // Without a sleep as well: else a margin that leaves no room for one would never be found out to be too wide.
      margin_ = std::max(margin_ - margin_ / 1024, narrowest_);
    } else if (end - instant < widest_) {  // what is later has lost its processor to others: no margin helps
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
  const std::uint64_t worth_sleeping_;
  const std::uint64_t preempted_;
  std::uint64_t returned_ = 0;
  std::uint64_t spinning_ticks_ = 0;
  std::uint64_t off_ticks_ = 0;      ///< in sleep_until_near(), all of it
  std::uint64_t sleep_cost_ns_ = 0;  ///< of which on the processor
};

}  // namespace middlemark
