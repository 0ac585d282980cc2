// What every end has: a socket, where it binds, how it sends, and how messages get from it to a visitor. Hot file: nothing of ours here
// allocates, locks, logs or throws once it is opened.
#pragma once

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/take.hpp>
#include <middlemark/kit/trial.hpp>

#include "curve.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace middlemark::zeromq {

/// A note says where an end is bound, and on the next line whose it is.
struct Trial : kit::Trial<Options> {
  explicit Trial(const Settings& its_settings) : kit::Trial<Options>(its_settings), context(options.io_threads) {
    if (settings.security != Security::none) curve.emplace(context, settings);
  }

  const Context context;
  std::optional<Curve> curve;  ///< of a trial with security
};

/// One that others connect to: a publisher of a topic, or a server.
[[nodiscard]] inline std::string note_of(const Topic& topic, unsigned index) {
  return topic.name + ".zeromq." + std::to_string(index);
}

class End {
 public:
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 protected:
  End(const Trial& trial, const Topic& topic, int type) : trial_(trial), socket_(trial.context, type) {
    const Options& options = trial.options;
    socket_.set(ZMQ_SNDHWM, options.send_hwm(topic), "ZMQ_SNDHWM");
    socket_.set(ZMQ_RCVHWM, options.receive_hwm(topic), "ZMQ_RCVHWM");
    socket_.set(ZMQ_SNDTIMEO, options.write_timeout_ms, "ZMQ_SNDTIMEO");
    if (options.sndbuf) socket_.set(ZMQ_SNDBUF, *options.sndbuf, "ZMQ_SNDBUF");
    if (options.rcvbuf) socket_.set(ZMQ_RCVBUF, *options.rcvbuf, "ZMQ_RCVBUF");
  }
  ~End() = default;

  /// An abstract Unix address belongs to the network namespace, has no file to be left behind and no folder whose name could be
  /// too long. A port of TCP is the kernel's choice.
  void bind(const Topic& topic, unsigned index) {
    const std::string name = note_of(topic, index);
    const std::string& transport = trial_.settings.transport;
    const std::string wanted = transport == "inproc" ? "inproc://" + name
                               : transport == "ipc"  ? "ipc://@" + name
                                                     : "tcp://" + kit::ipv4_text(trial_.settings.interface) + ":*";
    if (trial_.curve) trial_.curve->serve(socket_);
    trial_.notes.leave(name, socket_.bind(wanted) + '\n' + std::string(word(trial_.settings.identity)));
  }

  /// To what another end has left.
  void connect(const std::string& note) {
    const std::size_t line = note.find('\n');
    if (trial_.curve) trial_.curve->call(socket_, note.substr(line + 1));
    socket_.connect(note.substr(0, line));
  }

  [[nodiscard]] Published outcome(bool sent) noexcept {
    if (sent) [[likely]]
      return Published::ok;

    failure_.note("zmq_send", zmq_errno());
    return zmq_errno() == EAGAIN ? Published::timed_out : Published::failed;
  }

  const Trial& trial_;
  Socket socket_;
  kit::LastFailure<&zmq_strerror> failure_;
};

/// What an end writes its messages in: memory of its own, which zmq_send() copies, or with a loan ZeroMQ's.
class Writing : kit::Pinned {
 public:
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return lends_ ? letter_.open(bytes) : written_ = std::span(own_).first(bytes);
  }

 protected:
  Writing(const Trial& trial, const Topic& topic)
      : lends_(trial.settings.loan), own_(lends_ ? 0 : topic.message_bytes) {}
  ~Writing() = default;

  [[nodiscard]] bool send(Socket& socket) noexcept { return lends_ ? letter_.send(socket) : socket.send(written_, 0); }

 private:
  const bool lends_;
  std::vector<std::byte> own_;
  std::span<std::byte> written_;
  Letter letter_;
};

/// Under `block` it is wait() that receives: a zmq_msg_recv() with ZMQ_RCVTIMEO, as a program of ZeroMQ's would; zmq_poll()
/// before it would be a second round through the mailbox. Asking whether there is more after a message costs a system
/// call when there is not, so a take() after a wait() brings that one message.
class Receiver : public End {
 public:
  static constexpr std::size_t most_per_take = 1024;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return held_.take<most_per_take>([this]() noexcept { return receive(ZMQ_DONTWAIT); },
                                     [&](bool) noexcept { visitor(body_.bytes()); });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (held_) return true;
    const auto ms = static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), 1'000'000'000));
    if (ms != timeout_ms_) {
      zmq_setsockopt(socket_.get(), ZMQ_RCVTIMEO, &ms, sizeof ms);
      timeout_ms_ = ms;
    }
    return held_.hold(receive(0));
  }

 protected:
  Receiver(const Trial& trial, const Topic& topic, int type) : End(trial, topic, type), routed_(type == ZMQ_ROUTER) {}

  [[nodiscard]] bool receive(int flags) noexcept {
    // The frames of a message arrive together.
    const bool received = (!routed_ || identity_.receive(socket_, flags)) && body_.receive(socket_, flags);
    if (!received && zmq_errno() != EAGAIN && zmq_errno() != EINTR) failure_.note("zmq_msg_recv", zmq_errno());
    return received;
  }

  const bool routed_;  // its messages come with the sender's identity in front
  Frame identity_;

 private:
  kit::Held<bool> held_;  // in body_
  int timeout_ms_ = -1;
  Frame body_;
};

}  // namespace middlemark::zeromq
