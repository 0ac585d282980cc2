// How still a processor is by itself: time that a thread which wants nothing but to read the clock does not get.
//
// In the way of jHiccup and of cyclictest, but before and after a trial, not beside it: beside a role that polls a second spinner
// would be the disturbance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace middlemark::witness {

/// Durations from 1 us on, by octave: bucket k holds those from 1 us * 2^k to twice that, the last one all that are longer.
class Durations {
 public:
  static constexpr std::size_t buckets = 24;
  static constexpr std::uint64_t least_ns = 1000;

  [[nodiscard]] static constexpr std::uint64_t lower_ns(std::size_t bucket) { return least_ns << bucket; }
  /// Shorter ones than least_ns are not counted.
  void add(std::uint64_t ns) noexcept;
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return counts_.at(bucket); }
  [[nodiscard]] std::uint64_t longest_ns() const noexcept { return longest_ns_; }
  /// All of them together.
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }

 private:
  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t longest_ns_ = 0;
  std::uint64_t total_ns_ = 0;
};

/// What one processor did in one probe.
struct Stillness {
  int cpu = 0;
  std::uint64_t spun_ns = 0;  ///< from the first to the last reading of the clock
  Durations
      gaps;  ///< between two consecutive readings, while the kernel says that the thread ran: an interrupt, the hypervisor
  Durations taken;              ///< likewise, but another thread had the processor
  std::uint64_t waited_ns = 0;  ///< within `wakes`: what a woken thread waits for a processor that nobody else has
  std::uint64_t wakes = 0;      ///< timed sleeps that nobody else's thread prolonged
  Durations late;               ///< how much later than asked they ended
};

/// Which processors, for how long, and on which of them half of the time is spent in timed sleeps: where a role sleeps, what a
/// wake-up costs is part of the machine's stillness too.
struct ProbeRequest {
  std::vector<int> cpus;
  std::vector<int> sleeping;
  std::uint64_t duration_ns = 0;  ///< at most longest_probe_ns
};

inline constexpr std::uint64_t longest_probe_ns = 1'000'000'000;
inline constexpr std::uint64_t sleep_ns = 200'000;

/// Probes all processors at the same time, a thread each, and returns when the time is over. Never under a real-time priority,
/// whatever the caller runs under. Throws AdapterError naming a processor that this process may not use.
[[nodiscard]] std::vector<Stillness> probe(const ProbeRequest& request);

}  // namespace middlemark::witness
