// Values that a role's thread and the control thread exchange while the role runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include <unistd.h>

#include <middlemark/futex.hpp>
#include <middlemark/protocol.hpp>

namespace middlemark {

/// Wakes the control thread through an eventfd of the session. Without a descriptor (in tests) it does nothing.
class Wake {
 public:
  Wake() = default;
  explicit Wake(int eventfd) noexcept : descriptor_(eventfd) {}
  void operator()() const noexcept {
    if (descriptor_ < 0) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
  }

 private:
  int descriptor_ = -1;
};

/// Set once by the control thread. A role checks it between messages or sleeps until it is set.
class StopSignal {
 public:
  void request() noexcept {
    word_.store(1, std::memory_order_release);
    futex_wake(word_, std::numeric_limits<int>::max(), FutexScope::process);
  }
  [[nodiscard]] bool requested() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  /// Sleeps until it is set, at most `longest` (> 0).
  void sleep(std::chrono::nanoseconds longest) const noexcept { futex_wait(word_, 0, longest, FutexScope::process); }
  void sleep_until_requested() const noexcept {
    while (word_.load(std::memory_order_acquire) == 0) {
      futex_wait(word_, 0, std::chrono::seconds(3600), FutexScope::process);
    }
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

/// The value of Progress::expected with which a stopped receiver does not wait for further messages.
inline constexpr std::uint64_t nothing_expected = 0;

/// The values of one role. The control thread writes `expected` and then `stop`. The role writes all other fields, with
/// relaxed stores and on a cache line of its own. The counts are numbers of measured messages, except where a comment
/// says otherwise.
struct Progress {
  alignas(64) StopSignal stop;
  std::atomic<std::uint64_t> expected{nothing_expected};  ///< distinct messages after which a stopped receiver may end
  Wake wake;
  alignas(64) std::atomic<Phase> phase{Phase::waiting};
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> warm_ups{0};  ///< received warm-up messages; they only show that the sender is alive
  std::atomic<std::uint64_t> history{0};   ///< distinct history messages received
  std::atomic<std::uint64_t> duplicated{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> damaged{0};
  std::atomic<std::uint64_t> publish_failed{0};
  std::atomic<bool> measures{false};          ///< the first measured message was sent or received
  std::atomic<std::uint64_t> sleeping_ns{0};  ///< total time that the pacer slept until instants
  std::atomic<int> thread_id{0};              ///< of the role's own thread; 0: not started

  /// Called once by the role.
  void begin_to_measure() noexcept {
    measures.store(true, std::memory_order_release);
    wake();
  }
};

}  // namespace middlemark
