// Where a worker's threads run: processors, priority, locked memory, timer slack; and the guards that keep a spinning
// real-time thread from taking the machine with it.
#pragma once

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Dies with the parent, goes first when memory runs out, ignores SIGPIPE, and sets the timer slack of this thread and its
/// children to 1 ns. Call first thing in main.
void guard_process();

/// Applies to the calling thread and everything it starts afterwards. Threads the middleware starts inherit it, as they would
/// under taskset and chrt. Throws AdapterError naming what the system refused and the command that lifts it.
void place_process(const Placement& placement);

/// Pins the calling thread to one processor. Throws AdapterError.
void pin_thread(int cpu);

/// Changes the calling thread's priority within its real-time policy by `by` steps (clamped to 1..99); nothing under `other`.
/// The control thread goes one above the roles: a spinning role must not keep it from stopping the role.
void raise_priority(const Placement& placement, int by);

[[nodiscard]] InForce placed(const Placement& asked);

}  // namespace middlemark
