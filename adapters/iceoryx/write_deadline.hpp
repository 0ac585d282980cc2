// An end to a publish() that waits for a full queue: iceoryx itself waits for as long as it takes.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace middlemark::iceoryx {

/// A thread that looks from time to time whether the same write is still under way, and after `limit` calls `withdraw`, which
/// must let it go. It costs a write an addition before and one after.
class WriteDeadline {
 public:
  WriteDeadline(std::chrono::nanoseconds limit, std::function<void()> withdraw)
      : withdraw_(std::move(withdraw)), thread_([this, limit](const std::stop_token& stop) { watch(stop, limit); }) {
    pthread_setname_np(thread_.native_handle(), "write deadline");
  }

  void begin() noexcept { write_.store(++count_, std::memory_order_release); }

  /// True when the write was let go.
  [[nodiscard]] bool end() noexcept {
    ++count_;
    const bool claimed = (write_.exchange(count_, std::memory_order_acq_rel) & claim) != 0;
    if (claimed) {
      while (!withdrawn_.exchange(false, std::memory_order_acquire)) std::this_thread::yield();
    }
    return claimed;
  }

 private:
  static constexpr std::uint64_t claim = std::uint64_t{1} << 63;

  void watch(const std::stop_token& stop, std::chrono::nanoseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto period = limit / 16;
    std::uint64_t seen = 0;
    Clock::time_point since;
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(period);
      std::uint64_t now = write_.load(std::memory_order_acquire);
      if (now % 2 == 0 || now != seen) {  // none, or another one
        seen = now;
        since = Clock::now();
      } else if (Clock::now() - since >= limit - period) {
        // Claimed, so that a write which ends meanwhile is not mistaken for the one that follows.
        if (!write_.compare_exchange_strong(now, now | claim, std::memory_order_acq_rel)) continue;
        withdraw_();
        withdrawn_.store(true, std::memory_order_release);
        seen = 0;
      }
    }
  }

  std::function<void()> withdraw_;
  std::atomic<std::uint64_t> write_{0};  ///< odd: one is under way; and whether it was claimed
  std::uint64_t count_ = 0;              ///< the writing thread's own
  std::atomic<bool> withdrawn_{false};
  std::jthread thread_;
};

}  // namespace middlemark::iceoryx
