// Request and reply with DEALER and ROUTER, or REQ and REP. These sockets drop no messages: if a queue is full, the sender
// waits.
//
// ZeroMQ does not report that a peer has connected. So before the start each client sends an empty message as a greeting, and
// the server answers it.
#pragma once

#include "ends.hpp"

namespace middlemark::zeromq {

class Client : public Writing, public Receiver {
 public:
  Client(const Trial& trial, const Topic& service)
      : Writing(trial, service),
        Receiver(trial, service, trial.options.rpc == Rpc::req_rep ? ZMQ_REQ : ZMQ_DEALER),
        server_(note_of(service, 0)) {}

  [[nodiscard]] Published publish() noexcept { return outcome(send(socket_)); }

  [[nodiscard]] std::size_t matched() {
    if (!greeted_) {
      const auto note = trial_.notes.find(server_);
      if (!note) return 0;
      connect(*note);
      greeted_ = true;
      if (!socket_.send({}, 0)) fail("zmq_send() of a greeting to " + server_);
    }
    answered_ = answered_ || receive(ZMQ_DONTWAIT);
    return answered_ ? 1 : 0;
  }

 private:
  const std::string server_;
  bool greeted_ = false;
  bool answered_ = false;
};

class Server : public Writing, public Receiver {
 public:
  Server(const Trial& trial, const Topic& service)
      : Writing(trial, service), Receiver(trial, service, trial.options.rpc == Rpc::req_rep ? ZMQ_REP : ZMQ_ROUTER) {
    if (routed_) {
      // Without this option a reply is silently dropped when the queue to its client is full.
      socket_.set(ZMQ_ROUTER_MANDATORY, 1, "ZMQ_ROUTER_MANDATORY");
    } else {
      // A REP drops a reply if the queue to its client is full, and may treat the queue as full for a millisecond after
      // it was emptied. So set no limit. The queue contains at most one message, because a REQ has one open request.
      socket_.set(ZMQ_SNDHWM, 0, "ZMQ_SNDHWM");
    }
    bind(service, 0);
  }

  /// Sends the reply to the request that is being visited. `identity_` still contains the sender of the request.
  [[nodiscard]] Published publish() noexcept {
    return reply([this]() noexcept { return send(socket_); });
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    // A REP must answer each request before it takes the next. If the visitor has not answered, send an empty reply.
    const auto answering = [this, &visitor](std::span<const std::byte> request) noexcept {
      answered_ = false;
      visitor(request);
      if (!routed_ && !answered_) static_cast<void>(reply_without_content());
    };
    return Receiver::take(answering);
  }

  [[nodiscard]] std::size_t matched() {
    while (receive(ZMQ_DONTWAIT)) {
      if (reply_without_content() != Published::ok) fail("zmq_send() of the answer to a greeting");
      ++clients_;
    }
    return clients_;
  }

 private:
  template <class Send>
  Published reply(const Send& body) noexcept {
    answered_ = true;
    return outcome((!routed_ || socket_.send(identity_.bytes(), ZMQ_SNDMORE)) && body());
  }
  Published reply_without_content() noexcept {
    return reply([this]() noexcept { return socket_.send({}, 0); });
  }

  std::size_t clients_ = 0;
  bool answered_ = false;
};

}  // namespace middlemark::zeromq
