// Publishers and subscribers of topics; clients and servers of services.
#pragma once

#include <ros/advertise_service_options.h>
#include <ros/callback_queue.h>
#include <ros/node_handle.h>
#include <ros/publisher.h>
#include <ros/service.h>
#include <ros/service_client.h>
#include <ros/service_server.h>
#include <ros/spinner.h>
#include <ros/subscribe_options.h>
#include <ros/subscriber.h>
#include <ros/transport_hints.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <boost/chrono/duration.hpp>
#include <boost/thread/lock_types.hpp>

#include <middlemark/adapter.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/take.hpp>

#include "message.hpp"
#include "node.hpp"
#include "options.hpp"
#include "typed.hpp"

namespace middlemark::ros1 {

/// Returns a subscriber's transport hints, with which roscpp chooses the transport.
[[nodiscard]] inline ros::TransportHints hints_of(const Options& options) {
  ros::TransportHints hints;
  if (options.transport != udpros) return hints.reliable().tcpNoDelay(options.transport == tcpros_nodelay);
  hints.unreliable();
  if (options.udp_datagram_bytes) hints.maxDatagramSize(*options.udp_datagram_bytes);
  return hints;
}

class TopicPublisher : public kit::Attempts {
 public:
  TopicPublisher(ros::NodeHandle& node, const Topic& topic, const Settings& settings, const Options& options)
      : times_(make_times(topic.type)),
        typed_(make_outgoing(topic.type, topic.message_bytes)),
        message_(options.shares() ? 0 : topic.message_bytes),
        most_in_flight_(options.bytes_in_flight(topic)),
        timeout_(settings.write_timeout),
        subscribers_(topic.subscribers),
        links_due_(links_due(topic)) {
    if (options.shares()) pool_.emplace(topic.message_bytes, options.shared_messages(topic));
    const std::uint32_t queue = options.publisher_queue(topic);
    publisher_ = typed_ ? typed_->advertise(node, global(topic.name), queue, topic.history > 0)
                        : node.advertise<Bytes>(global(topic.name), queue, topic.history > 0);
    if (!publisher_) throw AdapterError("ros1: the topic " + topic.name + " cannot be advertised");
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (typed_) return typed_->array();
    Bytes& message = pool_ ? *pool_->in_hand() : message_;
    message.size = static_cast<std::uint32_t>(bytes);
    return message.span();
  }

  /// Makes roscpp serialize the message into its own buffer, which its poll thread sends. A shared message is not
  /// copied: the subscribers get a pointer.
  [[nodiscard]] Published publish() noexcept {
    Published outcome{};
    const bool done = attempt("ros::Publisher::publish", [&] {
      outcome = room() ? Published::ok : Published::timed_out;
      if (outcome == Published::timed_out) return;
      if (typed_) return typed_->publish(publisher_, *times_);
      if (!pool_) return publisher_.publish(message_);
      publisher_.publish(pool_->in_hand());
      pool_->handed_over();
    });
    return done ? outcome : Published::failed;
  }

  /// Returns the times of serializing; null for octets. roscpp serializes within publish(), and the times include the
  /// allocation of its buffer.
  [[nodiscard]] CodingTimes* serializing() noexcept { return times_.get(); }

  /// Returns the number of subscribers found. The subscribers of one process share a connection, so roscpp counts
  /// processes.
  [[nodiscard]] std::size_t matched() const {
    const std::size_t links = publisher_.getNumSubscribers();
    return links >= links_due_ ? subscribers_ : std::min(links, subscribers_ - 1);
  }

 private:
  [[nodiscard]] static std::size_t links_due(const Topic& topic) noexcept {
    if (topic.subscriber_processes > 0) return topic.subscriber_processes;
    return topic.subscribers_here > 0 ? 1 : topic.subscribers;
  }

  [[nodiscard]] bool room() {
    if (pool_) return pool_->find_next(timeout_);
    return kit::wait_until([this] { return bytes_waiting.load(std::memory_order_relaxed) < most_in_flight_; },
                           timeout_);
  }

  std::unique_ptr<CodingTimes> times_;    // null for octets
  std::unique_ptr<TypedOutgoing> typed_;  // null for octets
  Bytes message_;
  std::optional<MessagePool> pool_;
  std::size_t most_in_flight_;
  std::chrono::nanoseconds timeout_;
  std::size_t subscribers_;
  std::size_t links_due_;
  ros::Publisher publisher_;
};

/// A callback queue that waits as callAvailable(timeout) does, but leaves the callbacks for take() to call.
class WaitableQueue : public ros::CallbackQueue {
 public:
  bool wait(std::chrono::nanoseconds timeout) {
    boost::unique_lock<boost::mutex> lock(mutex_);
    if (callbacks_.empty()) condition_.wait_for(lock, boost::chrono::nanoseconds(timeout.count()));
    return !callbacks_.empty();
  }
};

/// Base of subscribers and servers. roscpp's callbacks run on the role's thread (poll, block) or on a spinner's thread
/// (listen).
class Inbox : public kit::Attempts {
 public:
  /// Starts the spinner's thread from the main thread, because a thread that a role starts inherits the role's
  /// processor and name.
  Inbox(Reception reception, bool spins) : listens_(reception == Reception::listen) {
    if (!listens_ || !spins) return;
    spinner_.emplace(1, &queue_);
    spinner_->start();
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    visits_ = 0;
    sink_ = Listener(visitor);
    attempt("ros::CallbackQueue::callAvailable", [this] { queue_.callAvailable(); });
    return visits_;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    bool some = true;
    attempt("waiting for a callback", [&] { some = queue_.wait(timeout); });
    return some;
  }

  void listen(Listener listener) {
    sink_ = listener;
    set(listening);
  }

 protected:
  ~Inbox() {
    set(ignoring);
    spinner_.reset();
  }

  /// Stops deliveries and waits for the running callback. Later callbacks do nothing.
  template <class End>
  void close(End& end) {
    set(ignoring);
    end.shutdown();
    spinner_.reset();
  }

  /// Delivers one message within a callback. Before listen(), the callback waits for that call. After silence(), it
  /// drops the message.
  void deliver(std::span<const std::byte> message) noexcept {
    if (listens_) {
      state_.wait(early, std::memory_order_acquire);
      if (state_.load(std::memory_order_acquire) != listening) return;
    }
    ++visits_;
    sink_(message);
  }

  WaitableQueue queue_;
  std::optional<ros::AsyncSpinner> spinner_;

 private:
  enum : std::uint32_t { early, listening, ignoring };

  void set(std::uint32_t state) noexcept {
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }

  const bool listens_;
  Listener sink_;
  std::size_t visits_ = 0;
  std::atomic<std::uint32_t> state_{early};
};

class TopicSubscriber : public Inbox {
 public:
  /// Subscribes. A nodelet uses its manager's callback queue and threads instead of the inbox's queue and spinner.
  TopicSubscriber(ros::NodeHandle& node, const Topic& topic, const Settings& settings, const Options& options)
      : Inbox(settings.reception, options.transport != nodelet),
        times_(make_times(topic.type)),
        local_publishers_(topic.publishers_here) {
    ros::SubscribeOptions asked;
    if (topic.type == MessageType::octets) {
      asked.init<Bytes>(global(topic.name), options.subscriber_queue(topic),
                        [this](const BytesConstPtr& message) { deliver(message->span()); });
    } else {
      subscribe(
          asked, global(topic.name), options.subscriber_queue(topic), topic.type, topic.message_bytes,
          [this](std::span<const std::byte> array) { deliver(array); }, *times_);
    }
    asked.transport_hints = hints_of(options);
    if (options.transport != nodelet) asked.callback_queue = &queue_;
    subscriber_ = node.subscribe(asked);
    if (!subscriber_) throw AdapterError("ros1: the topic " + topic.name + " cannot be subscribed to");
  }
  ~TopicSubscriber() { silence(); }

  /// Unsubscribes, which waits for a running callback and discards the queued callbacks.
  void silence() { close(subscriber_); }

  [[nodiscard]] CodingTimes* deserializing() noexcept { return times_.get(); }

  [[nodiscard]] std::size_t publishers_found() const {
    const std::size_t links = subscriber_.getNumPublishers();
    return links > 0 && local_publishers_ > 0 ? links - 1 + local_publishers_ : links;
  }

 private:
  std::unique_ptr<CodingTimes> times_;  // null for octets
  std::size_t local_publishers_;        // publishers in this process, which share one connection
  ros::Subscriber subscriber_;
};

/// A client. roscpp's call() has no timeout. If a call over a persistent connection exceeds the write timeout, the client
/// closes the connection, which ends the call.
class ServiceClient : public kit::Attempts, public kit::ReplyOfCall {
 public:
  ServiceClient(ros::NodeHandle& node, const Topic& service, const Settings& settings, const Options& options)
      : node_(node),
        name_(global(service.name)),
        persistent_(options.service_persistent),
        request_(service.message_bytes),
        reply_(service.message_bytes) {
    if (persistent_) deadline_.emplace(settings.write_timeout, [this] { client_.shutdown(); });
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    request_.size = static_cast<std::uint32_t>(bytes);
    return request_.span();
  }

  /// Sends the request and blocks until the reply has arrived, because roscpp has no other call.
  [[nodiscard]] Published publish() noexcept {
    constexpr const char* call = "ros::ServiceClient::call";
    // Connect again if the previous call timed out, because that has closed the connection.
    if (!client_.isValid() && !attempt(call, [this] { connect(); })) return Published::failed;
    if (deadline_) deadline_->begin();
    const bool done = attempt(call, [this] {
      if (!client_.call(request_, reply_)) throw std::runtime_error("no reply");
    });
    const bool withdrawn = deadline_ && deadline_->end();
    if (!done) return withdrawn ? Published::timed_out : Published::failed;
    replied(reply_.span());
    return Published::ok;
  }

  [[nodiscard]] std::size_t matched() {
    if (!client_.isValid() && ros::service::exists(name_, false)) connect();
    return client_.isValid() ? 1 : 0;
  }

 private:
  void connect() { client_ = node_.serviceClient<Bytes, Bytes>(name_, persistent_); }

  ros::NodeHandle& node_;
  std::string name_;
  bool persistent_;
  Bytes request_;
  Bytes reply_;
  ros::ServiceClient client_;
  std::optional<kit::CallDeadline> deadline_;  // destroyed before the client that it closes
};

class ServiceServer : public Inbox {
 public:
  ServiceServer(ros::NodeHandle& node, const Topic& service, const Settings& settings)
      : Inbox(settings.reception, true), clients_(service.publishers), reply_(service.message_bytes) {
    ros::AdvertiseServiceOptions asked;
    asked.init<Bytes, Bytes>(global(service.name), [this](const Bytes& request, Bytes& reply) {
      answered_ = false;
      deliver(request.span());
      if (answered_) reply = reply_;
      return answered_;
    });
    asked.callback_queue = &queue_;
    server_ = node.advertiseService(asked);
    if (!server_) throw AdapterError("ros1: the service " + service.name + " cannot be advertised");
  }
  ~ServiceServer() { silence(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    reply_.size = static_cast<std::uint32_t>(bytes);
    return reply_.span();
  }
  /// Marks the request as answered. roscpp sends the reply when the callback that visits the request returns.
  [[nodiscard]] Published publish() noexcept {
    answered_ = true;
    return Published::ok;
  }
  /// Returns the expected number of clients, because a service cannot count them. The clients wait until they have
  /// found the service, so no request is lost.
  [[nodiscard]] std::size_t matched() const noexcept { return clients_; }

  void silence() { close(server_); }

 private:
  std::size_t clients_;
  Bytes reply_;
  bool answered_ = false;
  ros::ServiceServer server_;
};

}  // namespace middlemark::ros1
