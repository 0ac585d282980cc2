// A ros::Publisher behind the contract's Publisher.
#pragma once

#include <ros/node_handle.h>
#include <ros/publisher.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>

#include "limits.hpp"
#include "message.hpp"
#include "node.hpp"
#include "options.hpp"
#include "pool.hpp"

namespace middlemark::ros1 {

/// The ends of a topic within this process. They share one connection, so roscpp cannot count them.
struct LocalEnds {
  std::size_t publishers = 0;
  std::size_t subscribers = 0;
};

class TopicPublisher {
 public:
  TopicPublisher(ros::NodeHandle& node, const Topic& topic, const Settings& settings, const Options& options,
                 const Limits& limits, LocalEnds& local)
      : message_(options.shares() ? 0 : topic.message_bytes),
        bytes_(topic.message_bytes),
        most_in_flight_(limits.bytes_in_flight()),
        timeout_(settings.write_timeout),
        local_(local),
        within_process_(settings.one_process) {
    if (options.shares()) {
      pool_.emplace(topic.message_bytes, limits.shared_messages(topic.publishers, topic.subscribers));
    } else {
      std::memset(message_.data.get(), 0, bytes_);
    }
    publisher_ = node.advertise<Bytes>(global(topic.name), limits.publisher_queue());
    if (!publisher_) throw AdapterError("ros1: the topic " + topic.name + " cannot be advertised");
    ++local_.publishers;
  }
  TopicPublisher(const TopicPublisher&) = delete;
  TopicPublisher& operator=(const TopicPublisher&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) [[unlikely]]
      return {};
    return pool_ ? pool_->in_hand()->span() : message_.span();
  }

  [[nodiscard]] Published publish() noexcept {
    try {
      return pool_ ? hand_over() : send();
    } catch (const std::exception& error) {  // no memory
      failure_ = "ros::Publisher::publish: ";
      failure_ += error.what();
      return Published::failed;
    }
  }

  [[nodiscard]] std::size_t matched() const {
    const std::size_t links = publisher_.getNumSubscribers();
    return within_process_ && links > 0 ? local_.subscribers : links;
  }

  [[nodiscard]] std::string last_error() const { return failure_; }

 private:
  Published hand_over() {
    if (!pool_->find_next(timeout_)) [[unlikely]]
      return Published::timed_out;
    publisher_.publish(pool_->in_hand());
    pool_->handed_over();
    return Published::ok;
  }

  /// Serializes, which is a copy, and leaves the sending to roscpp's own thread.
  Published send() {
    if (bytes_waiting.load(std::memory_order_relaxed) >= most_in_flight_ && !room()) [[unlikely]]
      return Published::timed_out;
    publisher_.publish(message_);
    return Published::ok;
  }

  [[nodiscard]] bool room() const noexcept {
    const auto until = std::chrono::steady_clock::now() + timeout_;
    while (bytes_waiting.load(std::memory_order_relaxed) >= most_in_flight_) {
      if (std::chrono::steady_clock::now() >= until) return false;
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
    }
    return true;
  }

  Bytes message_;
  std::optional<MessagePool> pool_;
  std::size_t bytes_;
  std::size_t most_in_flight_;
  std::chrono::nanoseconds timeout_;
  LocalEnds& local_;
  bool within_process_;
  ros::Publisher publisher_;
  std::string failure_;
};

}  // namespace middlemark::ros1
