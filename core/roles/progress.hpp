// What a role's thread and the control thread tell each other while the role runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include <unistd.h>

#include <middlemark/futex.hpp>
#include <middlemark/protocol.hpp>

namespace middlemark {

/// Wakes the control thread; made and closed by the session. Without a descriptor (in tests) nobody is woken.
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

/// What a receiver waits for once it has been told to stop.
inline constexpr std::uint64_t nothing_expected = 0;

/// One per role. The control thread writes `expected` and then `stop`; the role writes everything else, relaxed and on a cache
/// line of its own. The counts are those of measured messages.
struct Progress {
  alignas(64) StopSignal stop;
  std::atomic<std::uint64_t> expected{
      nothing_expected};  ///< different messages; a receiver may end when they have come
  Wake wake;
  alignas(64) std::atomic<Phase> phase{Phase::waiting};
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> warm_ups{0};  ///< probes and warm-up messages that came: no figure, but a sign of life
  std::atomic<std::uint64_t> history{0};   ///< of the topic's history, different ones
  std::atomic<std::uint64_t> duplicated{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> damaged{0};
  std::atomic<std::uint64_t> publish_failed{0};
  std::atomic<bool> measures{false};  ///< the first measured message is on its way, or has come
  std::atomic<std::uint64_t> sleeping_ns{
      0};                         ///< a pacer's, so far: its thread was off the processor because it wanted to be
  std::atomic<int> thread_id{0};  ///< of the role's own thread; 0: not started

  /// By the role, once.
  void begin_to_measure() noexcept {
    measures.store(true, std::memory_order_release);
    wake();
  }
};

}  // namespace middlemark
