// Sets where and how a worker's threads run (processors, priority, locked memory, timer slack), and the limits that
// keep a spinning real-time thread from blocking the machine.
#pragma once

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Makes this process end when its parent ends, makes it ignore SIGPIPE, and makes the kernel kill it first when memory
/// runs out. Sets the timer slack of this thread and its children to 1 ns. Call at the beginning of main.
void guard_process();

/// Applies a placement to the calling thread and all threads that it starts afterwards, including the middleware's, as
/// taskset and chrt do. Throws AdapterError with the setting that the system refused and the command that permits it.
void place_process(const Placement& placement);

/// Pins the calling thread to one processor. Throws AdapterError.
void pin_thread(int cpu);

/// Sets the calling thread's real-time priority to the placement's plus `by` (clamped to 1..99). Does nothing if the
/// policy is `other`. The control thread's priority is one above the roles', so that it can stop a spinning role.
void raise_priority(const Placement& placement, int by);

/// Returns the placement that the system reports for the calling thread. Checks for locked memory only if `asked.mlock`.
[[nodiscard]] InForce placed(const Placement& asked);

}  // namespace middlemark
