// Publisher and subscriber of a topic. Best effort uses PUB and SUB. Reliable uses PUSH and PULL, with a PUSH socket for
// each subscriber, because a PUSH sends each message to only one of its peers.
#pragma once

#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

#include <deque>
#include <string>
#include <vector>

#include "ends.hpp"

namespace middlemark::nng {

/// Returns the name under which a publisher listens. A reliable publisher has a name for each subscriber, a best-effort
/// publisher has one for all.
[[nodiscard]] inline std::string outlet_name(const Topic& topic, unsigned publisher, unsigned subscriber) {
  const std::string name = topic.name + ".nng." + std::to_string(publisher);
  return Options::reliable(topic) ? name + '.' + std::to_string(subscriber) : name;
}

class Publisher : public Writing, public End {
 public:
  Publisher(const Trial& trial, const Topic& topic, unsigned index) : Writing(trial, topic), End(trial) {
    const bool pushes = Options::reliable(topic);
    for (unsigned subscriber = 0; subscriber < (pushes ? topic.subscribers : 1); ++subscriber) {
      Socket& socket =
          outlets_.emplace_back(pushes ? MIDDLEMARK_NNG(push0) : MIDDLEMARK_NNG(pub0), trial.applied).socket;
      socket.set(NNG_OPT_SENDBUF, trial.options.send_buffer(topic));
      trial.listen(socket, outlet_name(topic, index, subscriber));
    }
  }

  /// Starts all sends before it waits for any, so that the delays of slow subscribers do not add up.
  [[nodiscard]] Published publish() noexcept {
    int failure = 0;
    std::size_t begun = 0;
    for (; begun < outlets_.size(); ++begun) {
      Message message = letter(begun + 1 == outlets_.size());
      if (!message) {
        failure = NNG_ENOMEM;
        break;
      }
      outlets_[begun].sending.begin_to_send(outlets_[begun].socket, std::move(message), trial_.write_timeout);
    }
    for (std::size_t i = 0; i < begun; ++i) {
      if (const int code = outlets_[i].sending.sent(); code != 0) failure = code;
    }
    return outcome(failure);
  }

  [[nodiscard]] std::size_t matched() {
    std::size_t subscribers = 0;
    for (const Outlet& outlet : outlets_) subscribers += outlet.socket.pipes();
    return subscribers;
  }

 private:
  struct Outlet {
    Outlet(const Kind& kind, kit::AppliedCode& applied) : socket(kind, applied) {}
    Socket socket;
    Operation sending;
  };
  std::deque<Outlet> outlets_;
};

class Subscriber : public Receiver {
 public:
  Subscriber(const Trial& trial, const Topic& topic, unsigned index)
      : Receiver(trial, Options::reliable(topic) ? MIDDLEMARK_NNG(pull0) : MIDDLEMARK_NNG(sub0)) {
    if (!Options::reliable(topic)) {
      // Subscribe to all messages, because a publisher's socket sends only this topic.
      check(nng_socket_set(socket_.get(), NNG_OPT_SUB_SUBSCRIBE, "", 0), "sub:subscribe");
      socket_.set(NNG_OPT_RECVBUF, trial.options.receive_buffer(topic));
      socket_.set(NNG_OPT_SUB_PREFNEW, trial.options.prefer_new);
    }
    for (unsigned publisher = 0; publisher < topic.publishers; ++publisher)
      awaited_.push_back(outlet_name(topic, publisher, index));
  }

  /// Dials the publishers that have begun to listen. Returns the number of connections.
  [[nodiscard]] std::size_t publishers_found() {
    std::erase_if(awaited_, [this](const std::string& name) { return trial_.dial(socket_, name); });
    return socket_.pipes();
  }

 private:
  std::vector<std::string> awaited_;
};

}  // namespace middlemark::nng
