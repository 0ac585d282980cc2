// Where and how a worker's threads run: processors, priority, locked memory, timer slack; and the guards against a
// real-time thread that spins and blocks the machine.
#pragma once

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Makes the process die with its parent, be killed first when memory runs out, and ignore SIGPIPE. Sets the timer
/// slack of this thread and its children to 1 ns. Call at the beginning of main.
void guard_process();

/// Applies to the calling thread and all threads started afterwards, including those of the middleware, as with taskset
/// and chrt. Throws AdapterError naming what the system refused and the command that permits it.
void place_process(const Placement& placement);

/// Pins the calling thread to one processor. Throws AdapterError.
void pin_thread(int cpu);

/// Sets the calling thread's real-time priority to the placement's plus `by` (clamped to 1..99). Does nothing under
/// `other`. The control thread runs one above the roles, so that a spinning role cannot keep it from stopping the role.
void raise_priority(const Placement& placement, int by);

[[nodiscard]] InForce placed(const Placement& asked);

}  // namespace middlemark
