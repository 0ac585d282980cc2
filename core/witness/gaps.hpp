// Measures the disturbances of an unused processor: time that a thread which only reads the clock does not get. Like
// jHiccup and cyclictest, but before and after a trial instead of during it, since a second spinner would itself
// disturb a role that polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace middlemark::witness {

/// Counts of durations by octave: bucket k holds those from 1 us * 2^k to twice that, the last one all longer ones.
class Durations {
 public:
  static constexpr std::size_t buckets = 24;
  static constexpr std::uint64_t least_ns = 1000;

  [[nodiscard]] static constexpr std::uint64_t lower_ns(std::size_t bucket) { return least_ns << bucket; }
  /// Ignores durations below least_ns.
  void add(std::uint64_t ns) noexcept;
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return counts_.at(bucket); }
  [[nodiscard]] std::uint64_t longest_ns() const noexcept { return longest_ns_; }
  /// The sum of all counted durations.
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }

 private:
  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t longest_ns_ = 0;
  std::uint64_t total_ns_ = 0;
};

/// The result of a probe of one processor.
struct Stillness {
  int cpu = 0;
  std::uint64_t spun_ns = 0;  ///< from the first to the last reading of the clock
  Durations gaps;             ///< between consecutive readings while the thread was running: interrupts, the hypervisor
  Durations taken;            ///< between consecutive readings, another thread had the processor
  std::uint64_t waited_ns = 0;  ///< waiting for a processor within `wakes`, although no other thread used it
  std::uint64_t wakes = 0;      ///< timed sleeps that no other thread prolonged
  Durations late;               ///< how long after their due time those sleeps ended
};

/// The processors to probe and for how long. Half of the time on the `sleeping` ones is spent in timed sleeps, because
/// a role that sleeps there also pays for wake-ups.
struct ProbeRequest {
  std::vector<int> cpus;
  std::vector<int> sleeping;
  std::uint64_t duration_ns = 0;  ///< at most longest_probe_ns
};

inline constexpr std::uint64_t longest_probe_ns = 1'000'000'000;
inline constexpr std::uint64_t sleep_ns = 200'000;

/// Probes all processors at the same time, with one thread each, and returns after the duration. The threads have no
/// real-time priority, whatever the caller has. Throws AdapterError naming a processor that this process may not use.
[[nodiscard]] std::vector<Stillness> probe(const ProbeRequest& request);

}  // namespace middlemark::witness
