// Publisher and subscriber of a topic. A publisher is an XPUB, a PUB that reports its subscriptions; a subscriber is a
// SUB. Each publisher has its own socket, which sends only this topic, so subscribers subscribe to all messages.
#pragma once

#include <vector>

#include "ends.hpp"

namespace middlemark::zeromq {

class Publisher : public Writing, public End {
 public:
  Publisher(const Trial& trial, const Topic& topic, unsigned index)
      : Writing(trial, topic), End(trial, topic, ZMQ_XPUB), catch_up_every_(trial.options.catch_up_every(topic)) {
    socket_.set(ZMQ_XPUB_NODROP, Options::nodrop(topic) ? 1 : 0, "ZMQ_XPUB_NODROP");
    socket_.set(ZMQ_XPUB_VERBOSER, 1, "ZMQ_XPUB_VERBOSER");
    bind(topic, index);
  }

  [[nodiscard]] Published publish() noexcept {
    // libzmq updates the sender's count of queued messages only about once per millisecond. Until then a best-effort
    // sender would drop messages although its queue is empty again.
    if (catch_up_every_ != 0 && ++since_ >= catch_up_every_) {
      since_ = 0;
      socket_.catch_up();
    }
    return outcome(send(socket_));
  }

  /// Returns the number of subscriptions. A message from a subscriber begins a subscription with \1 and ends it with \0.
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

 private:
  const unsigned catch_up_every_;  // 0: never
  unsigned since_ = 0;
  std::size_t subscribers_ = 0;
};

class Subscriber : public Receiver {
 public:
  Subscriber(const Trial& trial, const Topic& topic) : Receiver(trial, topic, ZMQ_SUB), publishers_(topic.publishers) {
    if (trial.options.conflate) socket_.set(ZMQ_CONFLATE, 1, "ZMQ_CONFLATE");
    if (zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, "", 0) != 0) fail("ZMQ_SUBSCRIBE to " + topic.name);
    for (unsigned i = 0; i < topic.publishers; ++i) awaited_.push_back(note_of(topic, i));
  }

  /// Connects to the publishers that have bound since the last call. Their matched() reports when the subscription arrives.
  [[nodiscard]] std::size_t publishers_found() {
    std::erase_if(awaited_, [this](const std::string& note) {
      const auto found = trial_.notes.find(note);
      if (found) connect(*found);
      return found.has_value();
    });
    return publishers_ - awaited_.size();
  }

 private:
  const std::size_t publishers_;
  std::vector<std::string> awaited_;
};

}  // namespace middlemark::zeromq
