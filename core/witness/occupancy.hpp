// Computes from the kernel's context switches which process used a processor and when. Does no input or output.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace middlemark::witness {

inline constexpr pid_t idle = 0;
inline constexpr pid_t somebody = -1;  ///< another process, whose id is unknown

/// One context switch on a processor.
struct Switch {
  std::uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t from = idle;        ///< process ids; a kernel thread has its own
  pid_t to = idle;
  bool preempted = false;  ///< `from` was still runnable
};

/// A time during which a process other than the workers used a processor.
struct Spell {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  int cpu = 0;
  pid_t pid = somebody;
};

/// Follows the switches of one processor. Records the times during which it neither was idle nor ran a worker.
class Occupancy {
 public:
  /// Keeps at most `most` spells; complete() is false if there were more.
  Occupancy(int cpu, std::vector<pid_t> workers, std::size_t most);

  void follow(const Switch& found);
  /// Call if records before the next switch were lost. Until that switch, it is unknown which process uses the
  /// processor.
  void lose() noexcept;
  /// Ends the current spell at `at_ns`.
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

/// Summary of the spells between two instants.
struct Seen {
  std::map<int, std::uint64_t> others_ns;    ///< by processor
  std::map<pid_t, std::uint64_t> by_pid_ns;  ///< by process
  std::vector<Spell> longest;  ///< sorted by their start; adjacent spells of a processor are merged into one
  std::size_t shorter = 0;     ///< number of spells that are not in `longest`
  std::uint64_t longest_of_the_shorter_ns = 0;
};

/// Summarises spells; `longest` contains at most `most` of them.
[[nodiscard]] Seen summary_between(const std::vector<Spell>& spells, std::uint64_t from_ns, std::uint64_t to_ns,
                                   std::size_t most);

}  // namespace middlemark::witness
