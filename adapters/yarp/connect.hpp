// Gives connections unique local ports.
#pragma once

#include <cstdint>

namespace middlemark::yarp {

/// From now on, binds each new TCP connection of this process to a unique local port, if the peer's port is at least `least`.
/// YARP names the shared memory of a connection after the local port. The kernel may give two connections to different ports
/// the same local port; then both would use one ring, and one would wait forever.
void bind_connections(std::uint64_t least);

}  // namespace middlemark::yarp
