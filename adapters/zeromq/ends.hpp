// The common part of publishers, subscribers, clients and servers: a socket, its address, sending and receiving. Hot file: once
// the roles run, our code here does not allocate, lock, log or throw.
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

/// The trial's context and keys. A socket that binds writes a note with its address and, on the next line, its
/// identity.
struct Trial : kit::Trial<Options> {
  explicit Trial(const Settings& its_settings)
      : kit::Trial<Options>(its_settings), context(options.io_threads, applied) {
    if (settings.security != Security::none) curve.emplace(context, settings);
  }

  const Context context;
  std::optional<Curve> curve;  ///< only for a trial with security
};

/// Returns the name of the note that a publisher or a server writes, so that others can connect.
[[nodiscard]] inline std::string note_of(const Topic& topic, unsigned index) {
  return topic.name + ".zeromq." + std::to_string(index);
}

[[nodiscard]] inline std::string name_of(int type) {
  switch (type) {
    case ZMQ_XPUB:
      return "ZMQ_XPUB";
    case ZMQ_SUB:
      return "ZMQ_SUB";
    case ZMQ_REQ:
      return "ZMQ_REQ";
    case ZMQ_REP:
      return "ZMQ_REP";
    case ZMQ_DEALER:
      return "ZMQ_DEALER";
    case ZMQ_ROUTER:
      return "ZMQ_ROUTER";
    default:
      return std::to_string(type);
  }
}

class End {
 public:
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 protected:
  End(const Trial& trial, const Topic& topic, int type)
      : trial_(trial), socket_(trial.context, type, &trial.applied.begin(name_of(type))) {
    const Options& options = trial.options;
    socket_.set(ZMQ_SNDHWM, options.send_hwm(topic), "ZMQ_SNDHWM");
    socket_.set(ZMQ_RCVHWM, options.receive_hwm(topic), "ZMQ_RCVHWM");
    socket_.set(ZMQ_SNDTIMEO, options.write_timeout_ms, "ZMQ_SNDTIMEO");
    if (options.sndbuf) socket_.set(ZMQ_SNDBUF, *options.sndbuf, "ZMQ_SNDBUF");
    if (options.rcvbuf) socket_.set(ZMQ_RCVBUF, *options.rcvbuf, "ZMQ_RCVBUF");
  }
  ~End() = default;

  /// Binds to an address of the trial and writes the address into a note. Uses an abstract Unix address, which leaves
  /// no file and has no path that could be too long. For TCP the kernel chooses the port.
  void bind(const Topic& topic, unsigned index) {
    const std::string name = note_of(topic, index);
    const std::string& transport = trial_.settings.transport;
    const std::string wanted = transport == "inproc" ? "inproc://" + name
                               : transport == "ipc"  ? "ipc://@" + name
                                                     : "tcp://" + kit::ipv4_text(trial_.settings.interface) + ":*";
    if (trial_.curve) trial_.curve->serve(socket_);
    trial_.notes.leave(name, socket_.bind(wanted) + '\n' + std::string(word(trial_.settings.identity)));
  }

  /// Connects to the socket whose note has this content.
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

/// The memory in which a message is written: a buffer of the adapter, which zmq_send() copies, or a ZeroMQ message if
/// the trial uses loans.
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

/// Receives messages. Under `block`, wait() receives with zmq_msg_recv() and ZMQ_RCVTIMEO, as a ZeroMQ program would;
/// with zmq_poll() libzmq would read the mailbox twice. The next take() visits only the message that wait() has
/// received, because checking for more would cost a system call.
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
    // All frames of a message arrive together.
    const bool received = (!routed_ || identity_.receive(socket_, flags)) && body_.receive(socket_, flags);
    if (!received && zmq_errno() != EAGAIN && zmq_errno() != EINTR) failure_.note("zmq_msg_recv", zmq_errno());
    return received;
  }

  const bool routed_;  // true for a ROUTER: received messages begin with a frame with the sender's identity
  Frame identity_;

 private:
  kit::Held<bool> held_;  // true: body_ contains a message that was not visited yet
  int timeout_ms_ = -1;
  Frame body_;
};

}  // namespace middlemark::zeromq
