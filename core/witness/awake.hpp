// Keeps processors from halting. On a virtual machine, and in deep idle states, waking a halted processor takes longer
// than most middlewares need for a message.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace middlemark::witness {

/// Spins a thread on each processor under SCHED_IDLE, so that it yields to all other threads. The threads end with this
/// object, after the time limit, or with the process.
class Awake {
 public:
  /// Returns when all threads spin. Throws AdapterError if the kernel refuses a processor or the policy; then no thread
  /// remains.
  Awake(const std::vector<int>& cpus, std::uint64_t limit_ns);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace middlemark::witness
