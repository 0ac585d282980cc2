// A blocking receive with a timeout, usually in one system call.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <chrono>

#include <middlemark/kit/socket.hpp>

namespace middlemark::kit {

/// Sets SO_RCVTIMEO of one socket. A role waits until its deadline, so the timeout differs for each message, and
/// setting the option each time would be a second system call per message. Instead, the socket's timeout is set to half
/// of the requested timeout. It remains while requested timeouts are one to eight times as long as it. Only a wait in
/// which no message arrives then needs further calls.
class ReceiveTimeout {
 public:
  /// Calls `receive`, a blocking call on `fd`, until it returns data or fails. After `timeout` returns -1 with EAGAIN.
  template <class Receive>
  ssize_t operator()(int fd, std::chrono::nanoseconds timeout, Receive&& receive) noexcept {
    if (timeout < armed_ || timeout > 8 * armed_) [[unlikely]]
      arm(fd, timeout / 2);
    for (std::chrono::nanoseconds left = timeout;;) {
      const ssize_t brought = receive();
      if (brought >= 0 || errno != EAGAIN) [[likely]]
        return brought;
      left -= armed_;
      if (left.count() <= 0) {
        errno = EAGAIN;
        return -1;
      }
      if (left < armed_) arm(fd, left);
    }
  }

 private:
  void arm(int fd, std::chrono::nanoseconds timeout) noexcept {
    armed_ = std::max<std::chrono::nanoseconds>(timeout, std::chrono::microseconds(1));
    set_timeout(fd, SO_RCVTIMEO, armed_);
  }

  std::chrono::nanoseconds armed_{0};
};

}  // namespace middlemark::kit
