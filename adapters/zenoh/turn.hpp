// The workers of a trial open their sessions one after the other where these have shared memory. The first segment that
// a process makes has zenoh remove from /dev/shm every segment that nobody has locked, and between making one and
// locking it another process's is such a segment: it would lose its name, and nobody could ever open it.
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <string>

#include <middlemark/settings.hpp>

#include "sockets/descriptor.hpp"

namespace middlemark::zenoh {

/// Waits for it. It is given back with the descriptor; a process that ends gives it back, however it ends.
[[nodiscard]] inline sockets::Descriptor take_turn(const Settings& settings) {
  const std::string path = settings.scratch + "/zenoh.turn";
  sockets::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) sockets::fail("zenoh: " + path);
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) sockets::fail("zenoh: " + path);
  }
  return file;
}

}  // namespace middlemark::zenoh
