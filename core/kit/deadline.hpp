// Waiting with a time limit, for the operations of the contract that may block.
#pragma once

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace middlemark::kit {

class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds from_now) noexcept : at_(Clock::now() + from_now) {}

  [[nodiscard]] bool passed() const noexcept { return Clock::now() >= at_; }
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept {
    return std::max<std::chrono::nanoseconds>(at_ - Clock::now(), std::chrono::nanoseconds(0));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_;
};

[[nodiscard]] constexpr timespec as_timespec(std::chrono::nanoseconds span) noexcept {
  return {span.count() / 1'000'000'000, span.count() % 1'000'000'000};
}

inline void nap(std::chrono::nanoseconds span) noexcept {
  const timespec pause = as_timespec(span);
  nanosleep(&pause, nullptr);
}

/// Checks `condition` every `pause` until it is true; returns false if `timeout` passes first.
template <class Condition>
[[nodiscard]] bool wait_until(Condition&& condition, std::chrono::nanoseconds timeout,
                              std::chrono::nanoseconds pause = std::chrono::microseconds(50)) {
  if (condition()) return true;
  const Deadline deadline(timeout);
  do {
    nap(pause);
    if (condition()) return true;
  } while (!deadline.passed());
  return false;
}

/// Ends calls of a middleware that have no timeout. A thread checks periodically whether a call has been running for
/// `limit`, and then calls `withdraw`, which must make the call return. Costs one addition before and one after each
/// call. Destroy this object before the objects that `withdraw` uses. With fewer `checks` during `limit` the thread wakes
/// up less often, but may withdraw a call earlier: after 1 - 1 / checks of the limit.
class CallDeadline {
 public:
  CallDeadline(std::chrono::nanoseconds limit, std::function<void()> withdraw, unsigned checks = 16)
      : withdraw_(std::move(withdraw)),
        thread_([this, limit, checks](const std::stop_token& stop) { watch(stop, limit, limit / checks); }) {
    pthread_setname_np(thread_.native_handle(), "call deadline");
  }

  void begin() noexcept { call_.store(++count_, std::memory_order_release); }

  /// Call after the middleware's call. Returns true if the call was withdrawn; `withdraw` has then returned.
  [[nodiscard]] bool end() noexcept {
    ++count_;
    const bool claimed = (call_.exchange(count_, std::memory_order_acq_rel) & claim) != 0;
    if (claimed) {
      while (!withdrawn_.exchange(false, std::memory_order_acquire)) std::this_thread::yield();
    }
    return claimed;
  }

 private:
  static constexpr std::uint64_t claim = std::uint64_t{1} << 63;

  void watch(const std::stop_token& stop, std::chrono::nanoseconds limit, std::chrono::nanoseconds period) {
    std::uint64_t seen = 0;
    std::chrono::steady_clock::time_point since;
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(period);
      std::uint64_t now = call_.load(std::memory_order_acquire);
      if (now % 2 == 0 || now != seen) {  // no call is running, or a new one
        seen = now;
        since = std::chrono::steady_clock::now();
      } else if (std::chrono::steady_clock::now() - since >= limit - period) {
        // Mark the call as claimed first. Otherwise it could end now, and withdraw_() would end the next call.
        if (!call_.compare_exchange_strong(now, now | claim, std::memory_order_acq_rel)) continue;
        withdraw_();
        withdrawn_.store(true, std::memory_order_release);
        seen = 0;
      }
    }
  }

  std::function<void()> withdraw_;
  std::atomic<std::uint64_t> call_{0};  ///< odd while a call is running; highest bit set: the call is claimed
  std::uint64_t count_ = 0;             ///< used by the calling thread only
  std::atomic<bool> withdrawn_{false};
  std::jthread thread_;
};

}  // namespace middlemark::kit
