// Who had a processor when, made of the kernel's context switches. Pure: where the switches come from is somebody else's.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace middlemark::witness {

inline constexpr pid_t idle = 0;
inline constexpr pid_t somebody = -1;  ///< not one of ours; the kernel does not tell who

/// One context switch on a processor.
struct Switch {
  std::uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t from = idle;        ///< processes, not threads; a kernel thread is its own
  pid_t to = idle;
  bool preempted = false;  ///< `from` would have gone on
};

/// A time in which a processor was somebody else's than the workers'.
struct Spell {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  int cpu = 0;
  pid_t pid = somebody;
};

/// Follows one processor. What is neither idle nor one of the workers is somebody else's time.
class Occupancy {
 public:
  /// Of `most` spells the details are kept; what comes after is as if it had not been seen (complete_until()).
  Occupancy(int cpu, std::vector<pid_t> workers, std::size_t most);

  void follow(const Switch& found);
  /// Records were lost before the next switch: until then nobody knows.
  void lose() noexcept;
  /// Ends what is under way at `at_ns`.
  void end(std::uint64_t at_ns);

  [[nodiscard]] const std::vector<Spell>& spells() const noexcept { return spells_; }
  [[nodiscard]] bool complete() const noexcept { return complete_; }

 private:
  [[nodiscard]] bool ours(pid_t pid) const noexcept;
  void close(std::uint64_t at_ns);

  int cpu_;
  std::vector<pid_t> workers_;
  std::size_t most_;
  std::vector<Spell> spells_;
  std::optional<Spell> under_way_;
  bool complete_ = true;
};

/// What of the spells lies between two instants.
struct Seen {
  std::map<int, std::uint64_t> others_ns;    ///< by processor
  std::map<pid_t, std::uint64_t> by_pid_ns;  ///< by whose it was
  std::vector<Spell> longest;                ///< neighbouring ones of a processor made one; in order of time
  std::size_t shorter = 0;                   ///< how many more there are
  std::uint64_t longest_of_the_shorter_ns = 0;
};

/// `most` spells are told one by one, the longest of them.
[[nodiscard]] Seen between(const std::vector<Spell>& spells, std::uint64_t from_ns, std::uint64_t to_ns,
                           std::size_t most);

}  // namespace middlemark::witness
