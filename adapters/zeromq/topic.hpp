// Publisher and subscriber of a topic: XPUB, which is a PUB that shows its subscriptions, and SUB. Every publisher has a
// socket and an endpoint of its own and nothing else is sent there, so a subscription is to everything.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

#include "endpoints.hpp"
#include "handles.hpp"
#include "intake.hpp"
#include "options.hpp"

namespace middlemark::zeromq {

class Publisher {
 public:
  Publisher(const Context& context, const Options& options, const Settings& settings, const Topic& topic,
            unsigned index)
      : socket_(context, ZMQ_XPUB),
        catch_up_every_(options.nodrop ? 0 : static_cast<unsigned>((options.send_hwm + 1) / 2)),
        message_(topic.message_bytes) {
    options.apply_to(socket_);
    socket_.set(ZMQ_XPUB_NODROP, options.nodrop ? 1 : 0, "ZMQ_XPUB_NODROP");
    socket_.set(ZMQ_XPUB_VERBOSER, 1, "ZMQ_XPUB_VERBOSER");
    const Place place(settings, topic, index);
    place.announce(socket_.bind(place.wanted()));
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }

  [[nodiscard]] Published publish() noexcept {
    // A sender learns what its receivers have taken when it looks, about once a millisecond. One that may drop would
    // until then take a queue for full that has long been empty.
    if (catch_up_every_ != 0 && ++since_ >= catch_up_every_) {
      since_ = 0;
      socket_.catch_up();
    }
    if (socket_.send(message_, 0)) [[likely]]
      return Published::ok;
    failure_.note("zmq_send");
    return zmq_errno() == EAGAIN ? Published::timed_out : Published::failed;
  }

  /// Subscriptions that have arrived: \1 comes, \0 goes.
  [[nodiscard]] std::size_t matched() {
    Frame subscription;
    while (subscription.receive(socket_, ZMQ_DONTWAIT)) {
      if (subscription.bytes().empty()) continue;
      if (subscription.bytes().front() == std::byte{1}) {
        ++subscribers_;
      } else if (subscribers_ > 0) {
        --subscribers_;
      }
    }
    return subscribers_;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Socket socket_;
  const unsigned catch_up_every_;  // 0: never
  unsigned since_ = 0;
  std::vector<std::byte> message_;
  std::size_t subscribers_ = 0;
  LastFailure failure_;
};

class Subscriber {
 public:
  Subscriber(const Context& context, const Options& options, const Settings& settings, const Topic& topic)
      : socket_(context, ZMQ_SUB), intake_(socket_, false) {
    options.apply_to(socket_);
    if (options.conflate) socket_.set(ZMQ_CONFLATE, 1, "ZMQ_CONFLATE");
    if (zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, "", 0) != 0) fail("ZMQ_SUBSCRIBE to " + topic.name);
    for (unsigned i = 0; i < topic.publishers; ++i) awaited_.emplace_back(settings, topic, i);
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return intake_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return intake_.wait(timeout); }
  void listen(Listener /*listener*/) { throw AdapterError("zeromq: has no thread that calls back"); }
  void silence() {}

  /// Connects to those that have been bound since. That the subscription has arrived, their matched() tells.
  [[nodiscard]] std::size_t publishers_found() {
    std::erase_if(awaited_, [this](const Place& place) {
      const auto endpoint = place.found();
      if (!endpoint) return false;
      socket_.connect(*endpoint);
      ++found_;
      return true;
    });
    return found_;
  }

  [[nodiscard]] std::string last_error() const { return intake_.last_error(); }

 private:
  Socket socket_;
  Intake intake_;
  std::vector<Place> awaited_;
  std::size_t found_ = 0;
};

}  // namespace middlemark::zeromq
