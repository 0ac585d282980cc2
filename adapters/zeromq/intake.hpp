// How messages get from a socket to a visitor. Hot file: nothing of ours here allocates, locks, logs or throws.
#pragma once

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "handles.hpp"

namespace middlemark::zeromq {

/// Under `block` it is wait() that receives: a zmq_msg_recv() with ZMQ_RCVTIMEO, as a program of ZeroMQ's would; zmq_poll()
/// before it would be a second round through the mailbox. Asking whether there is more after a message costs a system
/// call when there is not, so a take() after a wait() brings that one message.
class Intake {
 public:
  /// `routed`: a ROUTER, whose messages come with the sender's identity in front.
  Intake(const Socket& socket, bool routed) noexcept : socket_(socket), routed_(routed) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (held_) {
      held_ = false;
      visitor(body_.bytes());
      return 1;
    }
    std::size_t visits = 0;
    for (; visits < most_at_once && receive(ZMQ_DONTWAIT); ++visits) visitor(body_.bytes());
    return visits;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (held_) return true;
    const auto ms = static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), 1'000'000'000));
    if (ms != timeout_ms_) {
      zmq_setsockopt(socket_.get(), ZMQ_RCVTIMEO, &ms, sizeof ms);
      timeout_ms_ = ms;
    }
    held_ = receive(0);
    return held_;
  }

  /// A message that nobody waits for, before the start; empty also where it had no content.
  [[nodiscard]] bool receive(int flags) noexcept {
    // The frames of a message arrive together.
    const bool received = (!routed_ || identity_.receive(socket_, flags)) && body_.receive(socket_, flags);
    if (!received && zmq_errno() != EAGAIN && zmq_errno() != EINTR) failure_.note("zmq_msg_recv");
    return received;
  }
  [[nodiscard]] std::span<const std::byte> body() noexcept { return body_.bytes(); }
  [[nodiscard]] std::span<const std::byte> identity() noexcept { return identity_.bytes(); }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// So many visits end a take(), however fast messages come.
  static constexpr std::size_t most_at_once = 1024;

  const Socket& socket_;
  const bool routed_;
  bool held_ = false;  // received by a wait(), not visited yet
  int timeout_ms_ = -1;
  Frame identity_;
  Frame body_;
  LastFailure failure_;
};

}  // namespace middlemark::zeromq
