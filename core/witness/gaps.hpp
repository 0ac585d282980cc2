// Measures the disturbances of an unused processor: the gaps between the readings of a thread that only reads the clock.
// jHiccup and cyclictest measure the same, but during the run. Here it is done before and after a trial, because a
// second spinner would itself disturb a role that polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace middlemark::witness {

/// Counts of durations by octave. Bucket k counts durations from 1 us * 2^k to 1 us * 2^(k+1); the last bucket counts
/// all longer ones.
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
  std::uint64_t spun_ns = 0;    ///< from the first to the last reading of the clock
  Durations gaps;               ///< between two readings, without a preemption: interrupts, the hypervisor
  Durations taken;              ///< between two readings, or after a sleep, while another thread had the processor
  std::uint64_t waited_ns = 0;  ///< total wait for a processor after the sleeps that `wakes` counts
  std::uint64_t wakes = 0;      ///< number of timed sleeps whose end no other thread delayed
  Durations late;               ///< how long after their due time the sleeps in `wakes` ended
};

/// The processors to probe and for how long. On the `sleeping` processors roles will sleep, so that their latency
/// includes wake-ups. There the probe spends half of its time in timed sleeps.
struct ProbeRequest {
  std::vector<int> cpus;
  std::vector<int> sleeping;
  std::uint64_t duration_ns = 0;  ///< at most longest_probe_ns
};

inline constexpr std::uint64_t longest_probe_ns = 1'000'000'000;
inline constexpr std::uint64_t sleep_ns = 200'000;

/// Probes all processors at the same time, with one thread each, and returns after the duration. The threads never have
/// a real-time priority, even if the caller has one. Throws AdapterError naming a processor that this process may not
/// use.
[[nodiscard]] std::vector<Stillness> probe(const ProbeRequest& request);

}  // namespace middlemark::witness
