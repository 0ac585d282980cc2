// What a role's thread and the control thread tell each other while the role runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <middlemark/futex.hpp>

namespace middlemark {

enum class Phase { waiting, warm_up, measuring, echoing, ended };

/// Set once by the control thread; a role looks at it between messages or sleeps until it is set.
class StopSignal {
 public:
  void request() noexcept {
    word_.store(1, std::memory_order_release);
    futex_wake(word_, std::numeric_limits<int>::max(), FutexScope::process);
  }
  [[nodiscard]] bool requested() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  void sleep_until_requested() const noexcept {
    while (word_.load(std::memory_order_acquire) == 0) {
      futex_wait(word_, 0, std::chrono::seconds(3600), FutexScope::process);
    }
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

/// One per role. The role writes `phase` and `samples` (relaxed, their own cache line), the control thread `stop`.
struct Progress {
  alignas(64) StopSignal stop;
  alignas(64) std::atomic<Phase> phase{Phase::waiting};
  std::atomic<std::uint64_t> samples{0};
};

/// What a role counted. Loss and the like concern measured messages only, never the warm-up's.
struct RoleResult {
  std::string role;  ///< ping or pong
  unsigned index = 0;
  std::uint64_t samples = 0;
  std::uint64_t warmup_samples = 0;
  double measured_s = 0;
  std::uint64_t first_begin_ns = 0;  ///< CLOCK_MONOTONIC, of the first measured message; 0: there was none
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t echoed = 0;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t publish_failed = 0;
  std::string ended;       ///< samples, duration, full, limit, stopped
  std::string last_error;  ///< the middleware's own words; empty: none
  std::string error_code;  ///< silent; empty: the role did its work
  std::string error_text;
};

}  // namespace middlemark
