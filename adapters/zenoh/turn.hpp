// The workers of a trial open their sessions one after the other where these have shared memory. The first segment that
// a process makes has zenoh remove from /dev/shm every segment that nobody has locked, and between making one and
// locking it another process's is such a segment: it would lose its name, and nobody could ever open it.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::zenoh {

class Turn {
 public:
  /// Waits for it; a process that ends gives it back, however it ends.
  explicit Turn(const Settings& settings) {
    const std::string path = settings.scratch + "/zenoh.turn";
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int taken = -1;
    while (file_ >= 0 && (taken = flock(file_, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (taken == 0) return;
    const int error = errno;
    if (file_ >= 0) close(file_);
    throw AdapterError("zenoh: " + path + ": " + std::strerror(error));
  }
  ~Turn() { close(file_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_ = -1;
};

}  // namespace middlemark::zenoh
