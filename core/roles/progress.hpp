// What a role's thread and the control thread tell each other while the role runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <middlemark/futex.hpp>

namespace middlemark {

enum class Phase { waiting, warm_up, measuring, echoing, ended };

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
  std::atomic<std::uint64_t> rehearsed{0};  ///< probes and warm-up messages that came: no figure, but a sign of life
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

/// What a role counted. Loss and the like concern measured messages only, never the warm-up's.
struct RoleResult {
  std::string role;  ///< ping, pong, publisher, subscriber, client or server
  unsigned index = 0;
  unsigned topic = 0;
  std::uint64_t samples = 0;
  std::uint64_t in_histogram = 0;
  std::uint64_t warmup_samples = 0;
  double measured_s = 0;
  std::uint64_t first_begin_ns = 0;  ///< CLOCK_MONOTONIC, of the first measured message; 0: there was none
  std::uint64_t start_ticks = 0;     ///< a ping's or client's: what its samples' begin_ns counts from, by its clock
  double ticks_per_second = 0;       ///< of that clock
  std::uint64_t stamped = 0;         ///< a pong's or server's: answers that its samples file holds
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t echoed = 0;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t publish_failed = 0;
  std::uint64_t timed_out = 0;
  std::optional<std::uint64_t> scheduled;   ///< intended instants within the measuring; absent without a schedule
  std::optional<std::uint64_t> late_sends;  ///< sent more than a period after their instant
  std::optional<std::uint64_t> unsent;      ///< instants for which nothing was sent
  std::optional<std::uint64_t> blocked_ns;  ///< the role's thread slept within publish()
  std::uint64_t pacing_ns = 0;
  std::optional<std::uint64_t> writing_ns;  ///< absent where not every publish was stamped
  unsigned stamped_every = 1;               ///< a publisher's: of so many messages the first was stamped
  std::uint64_t first_ns = 0;  ///< CLOCK_MONOTONIC of the first and last message sent, or received; 0: none
  std::uint64_t last_ns = 0;
  std::vector<std::uint64_t> by_source;  ///< different messages received, by publisher
  std::optional<std::uint64_t> one_way_p50_ns;
  std::optional<std::uint64_t> one_way_p99_ns;
  std::optional<std::uint64_t> one_way_max_ns;
  bool native = false;     ///< request and reply were the middleware's own
  std::string ended;       ///< samples, duration, full, limit, stopped; a receiver: complete, quiet, limit, stopped
  std::string last_error;  ///< the middleware's own words; empty: none
  std::string error_code;  ///< silent; empty: the role did its work
  std::string error_text;
};

}  // namespace middlemark
