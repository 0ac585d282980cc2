// RAII owners of NNG's sockets, messages and asynchronous operations, and errors with NNG's own texts.
#pragma once

#include <nng/nng.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::nng {

inline void check(int code, const std::string& what, const std::string& advice = {}) {
  if (code != 0) throw AdapterError("nng: " + what + ": " + nng_strerror(code), advice);
}

/// Converts a duration to an NNG timeout, rounded up to whole milliseconds.
[[nodiscard]] inline nng_duration as_ms(std::chrono::nanoseconds span) noexcept {
  constexpr std::chrono::milliseconds longest(1'000'000'000);
  return static_cast<nng_duration>(std::min(std::chrono::ceil<std::chrono::milliseconds>(span), longest).count());
}

/// An NNG function that opens a socket, with its name. MIDDLEMARK_NNG(pub0) makes the Kind of nng_pub0_open.
struct Kind {
  int (*open)(nng_socket*);
  const char* name;
};
#define MIDDLEMARK_NNG(protocol) (::middlemark::nng::Kind{&nng_##protocol##_open, "nng_" #protocol "_open"})

/// A socket that counts its connections. Closing it drops queued messages, which the receivers no longer need at that time.
class Socket : kit::Pinned {
 public:
  Socket(const Kind& kind, kit::AppliedCode& applied) : applied_(applied.begin(kind.name)) {
    check(kind.open(&socket_), "opening a socket", "is the limit of open files too low? see 'ulimit -n'");
    const auto count = [](nng_pipe, nng_pipe_ev event, void* pipes) noexcept {
      static_cast<std::atomic<int>*>(pipes)->fetch_add(event == NNG_PIPE_EV_ADD_POST ? 1 : -1);
    };
    for (const nng_pipe_ev event : {NNG_PIPE_EV_ADD_POST, NNG_PIPE_EV_REM_POST}) {
      check(nng_pipe_notify(socket_, event, count, &pipes_), "nng_pipe_notify()");
    }
  }
  ~Socket() { nng_close(socket_); }

  void set(const char* option, std::optional<int> value) {
    if (!value) return;
    check(nng_socket_set_int(socket_, option, *value), option + (" = " + std::to_string(*value)));
    record("nng_socket_set_int", option, *value);
  }
  void set(const char* option, bool value) {
    check(nng_socket_set_bool(socket_, option, value), option);
    record("nng_socket_set_bool", option, value);
  }
  void set(const char* option, std::chrono::milliseconds value) {
    check(nng_socket_set_ms(socket_, option, as_ms(value)), option);
    record("nng_socket_set_ms", option, as_ms(value));
  }

  /// Listens, and returns the address for dial(). If `address` has port 0, the returned address has the port that the
  /// kernel chose.
  [[nodiscard]] std::string listen(const std::string& address) {
    nng_listener listener;
    check(nng_listen(socket_, address.c_str(), &listener, 0), "nng_listen() on " + address,
          "does another trial use it?");
    if (!address.starts_with("tcp:")) return address;
    int port = 0;
    check(nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port), "NNG_OPT_TCP_BOUND_PORT of " + address);
    return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
  }
  void dial(const std::string& address) {
    check(nng_dial(socket_, address.c_str(), nullptr, 0), "nng_dial() of " + address);
  }

  /// Returns the number of connections that are ready for messages.
  [[nodiscard]] std::size_t pipes() const noexcept { return static_cast<std::size_t>(pipes_.load()); }
  [[nodiscard]] nng_socket get() const noexcept { return socket_; }

 private:
  template <class Value>
  void record(const char* function, const char* option, Value value) {
    applied_.call(function, "socket", '"' + std::string(option) + '"', value);
  }

  nng_socket socket_{};
  kit::CodeBlock& applied_;
  std::atomic<int> pipes_{0};
};

struct FreeMessage {
  void operator()(nng_msg* message) const noexcept { nng_msg_free(message); }
};
using Message = std::unique_ptr<nng_msg, FreeMessage>;

[[nodiscard]] inline Message make_message(std::size_t bytes) noexcept {
  nng_msg* made = nullptr;
  return Message(nng_msg_alloc(&made, bytes) == 0 ? made : nullptr);
}
[[nodiscard]] inline std::span<std::byte> body_of(nng_msg* message) noexcept {
  return {static_cast<std::byte*>(nng_msg_body(message)), nng_msg_len(message)};
}

/// An nng_aio, which is allocated once and used for one operation after the other. nng_recvmsg() and nng_sendmsg() would
/// allocate one per call.
class Operation : kit::Pinned {
 public:
  explicit Operation(void (*done)(void*) = nullptr, void* object = nullptr) {
    check(nng_aio_alloc(&aio_, done, object), "nng_aio_alloc()");
  }
  ~Operation() {
    nng_aio_stop(aio_);
    nng_aio_free(aio_);
  }

  void begin_to_send(const Socket& socket, Message message, nng_duration timeout) noexcept {
    nng_aio_set_timeout(aio_, timeout);
    nng_aio_set_msg(aio_, message.release());
    nng_send_aio(socket.get(), aio_);
  }
  /// Waits until the send has ended. Returns 0 or NNG's error code.
  [[nodiscard]] int sent() noexcept {
    nng_aio_wait(aio_);
    const int code = nng_aio_result(aio_);
    if (code != 0) nng_msg_free(nng_aio_get_msg(aio_));
    return code;
  }

  void begin_to_receive(const Socket& socket, nng_duration timeout) noexcept {
    nng_aio_set_timeout(aio_, timeout);
    nng_recv_aio(socket.get(), aio_);
  }
  void wait() noexcept { nng_aio_wait(aio_); }
  [[nodiscard]] int result() noexcept { return nng_aio_result(aio_); }
  [[nodiscard]] Message message() noexcept {
    Message received(nng_aio_get_msg(aio_));
    nng_aio_set_msg(aio_, nullptr);
    return received;
  }

 private:
  nng_aio* aio_ = nullptr;
};

}  // namespace middlemark::nng
