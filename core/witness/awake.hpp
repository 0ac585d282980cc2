// Keeps processors from halting: on a virtual machine, and in deep idle states, the wake-up of one that halts costs more than most
// middlewares do.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace middlemark::witness {

/// A thread on each processor that spins under SCHED_IDLE, which gives way to whatever else wants to run there. It ends with
/// this object, when its time is over, or with the process.
class Awake {
 public:
  /// Returns when all spin. Throws AdapterError when a processor, or the policy, is refused: none spins then.
  Awake(const std::vector<int>& cpus, std::uint64_t limit_ns);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace middlemark::witness
