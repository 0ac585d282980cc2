// Request and reply: DEALER and ROUTER, or REQ and REP. None of these drops: a full queue makes the sender wait.
//
// ZeroMQ tells neither end that the other is there. So each client greets with a message without content and the server
// answers it, before the start.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

#include "endpoints.hpp"
#include "handles.hpp"
#include "intake.hpp"
#include "options.hpp"

namespace middlemark::zeromq {

class Client {
 public:
  Client(const Context& context, const Options& options, const Settings& settings, const Topic& service)
      : socket_(context, options.req_rep ? ZMQ_REQ : ZMQ_DEALER),
        intake_(socket_, false),
        server_(settings, service, 0),
        message_(service.message_bytes) {
    options.apply_to(socket_);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }
  [[nodiscard]] Published publish() noexcept {
    if (socket_.send(message_, 0)) [[likely]]
      return Published::ok;
    failure_.note("zmq_send");
    return zmq_errno() == EAGAIN ? Published::timed_out : Published::failed;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return intake_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return intake_.wait(timeout); }
  void listen(Listener /*listener*/) { throw AdapterError("zeromq: has no thread that calls back"); }
  void silence() {}

  [[nodiscard]] std::size_t matched() {
    if (!greeted_) {
      const auto endpoint = server_.found();
      if (!endpoint) return 0;
      socket_.connect(*endpoint);
      greeted_ = true;
      if (!socket_.send({}, 0)) fail("zmq_send() of a greeting to " + *endpoint);
    }
    answered_ = answered_ || intake_.receive(ZMQ_DONTWAIT);
    return answered_ ? 1 : 0;
  }

  [[nodiscard]] std::string last_error() const {
    const std::string words = failure_.text();
    return words.empty() ? intake_.last_error() : words;
  }

 private:
  Socket socket_;
  Intake intake_;
  const Place server_;
  std::vector<std::byte> message_;
  bool greeted_ = false;
  bool answered_ = false;
  LastFailure failure_;
};

class Server {
 public:
  Server(const Context& context, const Options& options, const Settings& settings, const Topic& service)
      : routed_(!options.req_rep),
        socket_(context, routed_ ? ZMQ_ROUTER : ZMQ_REP),
        intake_(socket_, routed_),
        message_(service.message_bytes) {
    options.apply_to(socket_);
    if (routed_) {
      // Otherwise a reply that finds its client's queue full is dropped without a word.
      socket_.set(ZMQ_ROUTER_MANDATORY, 1, "ZMQ_ROUTER_MANDATORY");
    } else {
      // A REP drops it in any case, and takes a queue for full for up to a millisecond after it was emptied. A REQ has one
      // request open at a time: without a bound there is one message in the queue at most.
      socket_.set(ZMQ_SNDHWM, 0, "ZMQ_SNDHWM");
    }
    const Place place(settings, service, 0);
    place.announce(socket_.bind(place.wanted()));
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }
  /// The reply to the request that is being visited, whose sender's identity is still in hand.
  [[nodiscard]] Published publish() noexcept { return reply(message_); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    Answering<Visitor> answering{*this, visitor};
    return intake_.take(answering);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return intake_.wait(timeout); }
  void listen(Listener /*listener*/) { throw AdapterError("zeromq: has no thread that calls back"); }
  void silence() {}

  [[nodiscard]] std::size_t matched() {
    while (intake_.receive(ZMQ_DONTWAIT)) {
      if (reply({}) != Published::ok) fail("zmq_send() of the answer to a greeting");
      ++clients_;
    }
    return clients_;
  }

  [[nodiscard]] std::string last_error() const {
    const std::string words = failure_.text();
    return words.empty() ? intake_.last_error() : words;
  }

 private:
  /// A REP must answer each request before it can take the next: one that the visitor left gets an answer without content.
  template <class Visitor>
  struct Answering {
    Server& server;
    Visitor& visitor;
    void operator()(std::span<const std::byte> request) noexcept {
      server.answered_ = false;
      visitor(request);
      if (!server.routed_ && !server.answered_) static_cast<void>(server.reply({}));
    }
  };

  Published reply(std::span<const std::byte> body) noexcept {
    answered_ = true;
    if ((!routed_ || socket_.send(intake_.identity(), ZMQ_SNDMORE)) && socket_.send(body, 0)) [[likely]] {
      return Published::ok;
    }
    failure_.note("zmq_send");
    return zmq_errno() == EAGAIN ? Published::timed_out : Published::failed;
  }

  const bool routed_;
  Socket socket_;
  Intake intake_;
  std::vector<std::byte> message_;
  std::size_t clients_ = 0;
  bool answered_ = false;
  LastFailure failure_;
};

}  // namespace middlemark::zeromq
