// A ros::Subscriber behind the contract's Subscriber.
#pragma once

#include <ros/node_handle.h>
#include <ros/subscribe_options.h>
#include <ros/subscriber.h>
#include <ros/transport_hints.h>

#include <chrono>
#include <cstddef>
#include <string>

#include <middlemark/adapter.hpp>

#include "inbox.hpp"
#include "limits.hpp"
#include "message.hpp"
#include "node.hpp"
#include "options.hpp"
#include "publisher.hpp"

namespace middlemark::ros1 {

[[nodiscard]] inline ros::TransportHints hints_of(const Options& options) {
  ros::TransportHints hints;
  if (options.transport == udpros) {
    hints.unreliable();
    if (options.datagram_bytes != 0) hints.maxDatagramSize(options.datagram_bytes);
  } else {
    hints.reliable();
    if (options.transport == tcpros_nodelay) hints.tcpNoDelay();
  }
  return hints;
}

class TopicSubscriber {
 public:
  /// A nodelet's handle brings the callback queue of its manager, whose threads take the place of a spinner.
  TopicSubscriber(ros::NodeHandle& node, const Topic& topic, const Settings& settings, const Options& options,
                  const Limits& limits, LocalEnds& local)
      : inbox_(settings.reception, options.transport != nodelet), local_(local), within_process_(settings.one_process) {
    ros::SubscribeOptions asked;
    asked.init<Bytes>(global(topic.name), limits.subscriber_queue(topic.publishers),
                      [this](const BytesConstPtr& message) { inbox_.deliver(message->span()); });
    asked.transport_hints = hints_of(options);
    if (options.transport != nodelet) asked.callback_queue = &inbox_.queue();
    subscriber_ = node.subscribe(asked);
    if (!subscriber_) throw AdapterError("ros1: the topic " + topic.name + " cannot be subscribed to");
    ++local_.subscribers;
  }
  TopicSubscriber(const TopicSubscriber&) = delete;
  TopicSubscriber& operator=(const TopicSubscriber&) = delete;
  ~TopicSubscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return inbox_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return inbox_.wait(timeout); }
  void listen(Listener listener) { inbox_.listen(listener); }

  /// Unsubscribing waits for the callback under way and forgets those that are due.
  void silence() {
    inbox_.ignore();
    subscriber_.shutdown();
    inbox_.close();
  }

  [[nodiscard]] std::size_t publishers_found() const {
    const std::size_t links = subscriber_.getNumPublishers();
    return within_process_ && links > 0 ? local_.publishers : links;
  }

  [[nodiscard]] std::string last_error() const { return inbox_.last_error(); }

 private:
  Inbox inbox_;
  LocalEnds& local_;
  bool within_process_;
  ros::Subscriber subscriber_;
};

}  // namespace middlemark::ros1
