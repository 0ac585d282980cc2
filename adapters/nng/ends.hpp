// Code that publishers, subscribers, clients and servers share: addresses, the memory of messages, and receiving. Hot file:
// once the roles run, our code here does not allocate, lock, log or throw. NNG allocates each message.
#pragma once

#include <nng/nng.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/take.hpp>
#include <middlemark/kit/trial.hpp>

#include "handles.hpp"
#include "options.hpp"

namespace middlemark::nng {

struct Trial : kit::Trial<Options> {
  using kit::Trial<Options>::Trial;

  const nng_duration write_timeout = as_ms(settings.write_timeout);

  /// Listens on an address of the trial and writes the address into a note called `name`. Uses an abstract Unix
  /// address, which leaves no file and has no path that could be too long. For TCP the kernel chooses the port.
  void listen(Socket& socket, const std::string& name) const {
    const std::string wanted = settings.transport == "inproc" ? "inproc://" + name
                               : settings.transport == "ipc"  ? "abstract://" + name
                                                              : "tcp://" + kit::ipv4_text(settings.interface) + ":0";
    if (wanted.ends_with(":0")) socket.set(NNG_OPT_TCP_NODELAY, options.nodelay);
    notes.leave(name, socket.listen(wanted));
  }
  /// Connects to the socket that listens under `name`. Returns false if no socket listens there yet.
  [[nodiscard]] bool dial(Socket& socket, const std::string& name) const {
    const auto address = notes.find(name);
    if (!address) return false;
    if (address->starts_with("tcp:")) socket.set(NNG_OPT_TCP_NODELAY, options.nodelay);
    socket.dial(*address);
    return true;
  }
};

class End : kit::Pinned {
 public:
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 protected:
  explicit End(const Trial& trial) : trial_(trial) {}
  ~End() = default;

  [[nodiscard]] Published outcome(int code) noexcept {
    if (code == 0) [[likely]]
      return Published::ok;
    failure_.note("nng_send_aio", code);
    return code == NNG_ETIMEDOUT ? Published::timed_out : Published::failed;
  }

  const Trial& trial_;
  kit::LastFailure<&nng_strerror> failure_;
};

/// The memory in which a message is written before it is sent. Without a loan this is a buffer of the adapter, which is
/// copied into an NNG message as nng_send() does. With a loan it is the body of an NNG message.
class Writing : kit::Pinned {
 public:
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (!lends_) return written_ = std::span(own_).first(bytes);
    if (!letter_ || nng_msg_len(letter_.get()) != bytes) letter_ = make_message(bytes);
    return letter_ ? body_of(letter_.get()) : std::span<std::byte>();
  }

 protected:
  Writing(const Trial& trial, const Topic& topic)
      : lends_(trial.settings.loan), own_(lends_ ? 0 : topic.message_bytes) {}
  ~Writing() = default;

  /// Returns the message that was written; null if there is no memory. If `last` is false, returns a copy, so that the
  /// message can be sent to another subscriber too.
  [[nodiscard]] Message letter(bool last) noexcept {
    if (lends_ && last) return std::move(letter_);
    const std::span<const std::byte> written = lends_ ? body_of(letter_.get()) : written_;
    Message copy = make_message(written.size());
    if (copy) std::memcpy(nng_msg_body(copy.get()), written.data(), written.size());
    return copy;
  }

 private:
  const bool lends_;
  std::vector<std::byte> own_;
  std::span<std::byte> written_;
  Message letter_;
};

/// Receives messages. Under `block`, wait() receives one message with a timeout, as nng_recvmsg() does with
/// NNG_OPT_RECVTIMEO, and the next take() visits this message.
class Receiver : public End {
 public:
  static constexpr std::size_t most_per_take = 1024;

  ~Receiver() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return held_.take<most_per_take>(
        [this]() noexcept { return receive(NNG_DURATION_ZERO); },
        [&visitor](const Message& message) noexcept { visitor(std::span<const std::byte>(body_of(message.get()))); });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return held_ || held_.hold(receive(as_ms(timeout)));
  }

  /// Starts one asynchronous receive. Its callback runs on a task thread of NNG, visits the message, and starts the next
  /// receive.
  void listen(Listener listener) {
    prepare_to_listen(listener);
    listening_->begin_to_receive(socket_, NNG_DURATION_INFINITE);
  }
  void silence() noexcept { listening_.reset(); }

 protected:
  Receiver(const Trial& trial, const Kind& kind, bool repeats = true)
      : End(trial), socket_(kind, trial.applied), repeats_(repeats) {}

  void prepare_to_listen(Listener listener) {
    listener_ = listener;
    listening_.emplace([](void* self) { static_cast<Receiver*>(self)->heard(); }, this);
  }

  Socket socket_;
  std::optional<Operation> listening_;

 private:
  [[nodiscard]] Message receive(nng_duration timeout) noexcept {
    receiving_.begin_to_receive(socket_, timeout);
    receiving_.wait();
    const int code = receiving_.result();
    if (code == 0) return receiving_.message();
    // NNG_ESTATE is not a failure: a client polled while it had no request in flight.
    if (code != NNG_ETIMEDOUT && code != NNG_ESTATE) failure_.note("nng_recv_aio", code);
    return nullptr;
  }

  void heard() noexcept {
    const int code = listening_->result();
    if (code != 0) {
      if (code != NNG_ECANCELED) failure_.note("nng_recv_aio", code);
      return;
    }
    {
      const Message message = listening_->message();
      listener_(body_of(message.get()));
    }
    if (repeats_) listening_->begin_to_receive(socket_, NNG_DURATION_INFINITE);
  }

  const bool repeats_;  ///< with `listen`, the callback starts the next receive
  Operation receiving_;
  kit::Held<Message> held_;
  Listener listener_;
};

}  // namespace middlemark::nng
