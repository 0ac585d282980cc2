// Replaces libc's connect() in the whole process, including YARP and ACE.
#include "connect.hpp"

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>

namespace middlemark::yarp {
namespace {

std::atomic<std::uint64_t> least_peer{65'536};  // larger than any port

void bind_first(int socket, const sockaddr* peer) {
  if (peer == nullptr || peer->sa_family != AF_INET) return;
  if (ntohs(reinterpret_cast<const sockaddr_in*>(peer)->sin_port) < least_peer.load()) return;
  int type = 0;
  sockaddr_in own{};
  socklen_t type_bytes = sizeof type;
  socklen_t own_bytes = sizeof own;
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &type_bytes) != 0 || type != SOCK_STREAM) return;
  if (getsockname(socket, address, &own_bytes) != 0 || own.sin_port != 0) return;
  own.sin_family = AF_INET;
  static_cast<void>(bind(socket, address, sizeof own));  // if bind() fails, connect() chooses the port as usual
}

}  // namespace

void bind_connections(std::uint64_t least) { least_peer.store(least); }

}  // namespace middlemark::yarp

extern "C" int connect(int socket, const sockaddr* peer, socklen_t bytes) {
  static auto* const libc = reinterpret_cast<decltype(&connect)>(dlsym(RTLD_NEXT, "connect"));
  middlemark::yarp::bind_first(socket, peer);
  return libc(socket, peer, bytes);
}
