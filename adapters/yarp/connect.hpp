// Connections with unique local ports.
#pragma once

#include <cstdint>

namespace middlemark::yarp {

/// Binds each later TCP connection of this process to a port from `least` on to a free local port. YARP names the shared
/// memory of a connection after its local port, and the kernel may give two connections to different ports the same local
/// port: both would then use one ring, and one would wait forever.
void bind_connections(std::uint64_t least);

}  // namespace middlemark::yarp
