// RAII owners of libzmq's contexts, sockets and messages, and errors with libzmq's own texts.
#pragma once

#include <zmq.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::zeromq {

[[noreturn]] inline void fail(const std::string& what, std::string advice = {}) {
  throw AdapterError("zeromq: " + what + ": " + zmq_strerror(zmq_errno()), std::move(advice));
}

class Context : kit::Pinned {
 public:
  Context(int io_threads, kit::AppliedCode& applied) : context_(zmq_ctx_new()) {
    if (context_ == nullptr) fail("zmq_ctx_new()");
    if (zmq_ctx_set(context_, ZMQ_IO_THREADS, io_threads) != 0) fail("zmq_ctx_set(ZMQ_IO_THREADS)");
    applied.begin("context").call("zmq_ctx_set", "context", "ZMQ_IO_THREADS", io_threads);
    zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, zmq_ctx_get(context_, ZMQ_SOCKET_LIMIT));
  }
  ~Context() {
    while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
    }
  }
  [[nodiscard]] void* get() const noexcept { return context_; }

 private:
  void* context_;
};

/// A socket. Closing it drops queued messages, which the receivers no longer need at that time.
class Socket : kit::Pinned {
 public:
  /// `applied`: records the options that are set; null: they are not recorded.
  Socket(const Context& context, int type, kit::CodeBlock* applied = nullptr)
      : socket_(zmq_socket(context.get(), type)), applied_(applied) {
    if (socket_ == nullptr) fail("zmq_socket()", "is the limit of open files too low? see 'ulimit -n'");
    set(ZMQ_LINGER, 0, "ZMQ_LINGER");
  }
  ~Socket() { zmq_close(socket_); }

  void set(int option, int value, const char* name) {
    if (zmq_setsockopt(socket_, option, &value, sizeof value) != 0) {
      fail(std::string(name) + " = " + std::to_string(value));
    }
    if (applied_ != nullptr)
      applied_->call("zmq_setsockopt", "socket", name, "&(int){" + std::to_string(value) + "}", "sizeof(int)");
  }

  /// Sets an option to a text or a key. The error message does not contain `text`, which may be a secret key.
  void set(int option, const std::string& text, const char* name) {
    if (zmq_setsockopt(socket_, option, text.c_str(), text.size() + (text.size() == 40 ? 1 : 0)) != 0) fail(name);
    if (applied_ != nullptr) applied_->line(std::string("// ") + name + ": your own");
  }

  /// Binds. Returns the endpoint for connect(): `endpoint` with the port that the kernel chose in place of the
  /// wildcard.
  [[nodiscard]] std::string bind(const std::string& endpoint) {
    if (zmq_bind(socket_, endpoint.c_str()) != 0) fail("zmq_bind() to " + endpoint, "does another trial use it?");
    if (endpoint.starts_with("inproc:")) return endpoint;
    char bound[256];
    std::size_t length = sizeof bound;
    if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, bound, &length) != 0) fail("ZMQ_LAST_ENDPOINT of " + endpoint);
    return bound;
  }
  void connect(const std::string& endpoint) {
    if (zmq_connect(socket_, endpoint.c_str()) != 0) fail("zmq_connect() to " + endpoint);
  }

  /// Sends a frame. Returns false if it was not sent; zmq_errno() has the reason.
  [[nodiscard]] bool send(std::span<const std::byte> bytes, int flags) noexcept {
    int sent = 0;
    do {
      sent = zmq_send(socket_, bytes.data(), bytes.size(), flags);
    } while (sent < 0 && zmq_errno() == EINTR);
    return sent >= 0;
  }

  /// Processes the commands that other threads have sent to this socket. Such a command reports how many messages were
  /// taken from its queues. zmq_send() processes these commands only about once per millisecond.
  void catch_up() noexcept {
    int events = 0;
    std::size_t length = sizeof events;
    zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &length);
  }

  [[nodiscard]] void* get() const noexcept { return socket_; }

 private:
  void* socket_;
  kit::CodeBlock* applied_;
};

/// A ZeroMQ message in which the publisher writes. zmq_send() would copy the bytes into such a message.
class Letter : kit::Pinned {
 public:
  Letter() noexcept { zmq_msg_init(&letter_); }
  ~Letter() { zmq_msg_close(&letter_); }

  /// Returns the memory of the next message; empty if there is none. Returns the same memory until send().
  [[nodiscard]] std::span<std::byte> open(std::size_t bytes) noexcept {
    if (!open_) {
      open_ = zmq_msg_init_size(&letter_, bytes) == 0;
      if (!open_) zmq_msg_init(&letter_);
    }
    return open_ ? std::span(static_cast<std::byte*>(zmq_msg_data(&letter_)), bytes) : std::span<std::byte>();
  }
  /// Sends the message. Returns false if it was not sent and is unchanged; zmq_errno() has the reason.
  [[nodiscard]] bool send(const Socket& socket) noexcept {
    int sent = 0;
    do {
      sent = zmq_msg_send(&letter_, socket.get(), 0);
    } while (sent < 0 && zmq_errno() == EINTR);
    if (sent < 0) return false;
    open_ = false;
    return true;
  }

 private:
  zmq_msg_t letter_;  // valid only if open_
  bool open_ = false;
};

/// A received frame. Receiving again releases the previous content.
class Frame : kit::Pinned {
 public:
  Frame() noexcept { zmq_msg_init(&frame_); }
  ~Frame() { zmq_msg_close(&frame_); }

  [[nodiscard]] bool receive(const Socket& socket, int flags) noexcept {
    return zmq_msg_recv(&frame_, socket.get(), flags) >= 0;
  }
  [[nodiscard]] std::span<const std::byte> bytes() noexcept {
    return {static_cast<const std::byte*>(zmq_msg_data(&frame_)), zmq_msg_size(&frame_)};
  }

 private:
  zmq_msg_t frame_;
};

}  // namespace middlemark::zeromq
