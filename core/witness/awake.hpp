// Keeps processors from halting. On a virtual machine, and in deep idle states, waking a halted processor takes longer
// than most middlewares need for a message.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace middlemark::witness {

/// Runs a thread on each processor that spins under SCHED_IDLE, which yields to all other threads. The threads end with
/// this object, after the time limit, or with the process.
class Awake {
 public:
  /// Returns when all threads spin. Throws AdapterError, with no thread left, if a processor or the policy is refused.
  Awake(const std::vector<int>& cpus, std::uint64_t limit_ns);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace middlemark::witness
