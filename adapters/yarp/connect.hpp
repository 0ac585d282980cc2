// Connections whose local port nobody else has.
#pragma once

#include <cstdint>

namespace middlemark::yarp {

/// From now on each TCP connection of this process to a port from `least` on is bound to a free port first. YARP names the shared memory of
/// a connection by the number of its local port, and the kernel lets connections to different ports have the same number: two of them
/// then use one ring, and one waits forever.
void bind_connections(std::uint64_t least);

}  // namespace middlemark::yarp
