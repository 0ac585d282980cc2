// A publisher and a subscription of std_msgs/msg/UInt8MultiArray behind the contract.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include "listening.hpp"
#include "node.hpp"

namespace middlemark::ros2 {

using Message = std_msgs::msg::UInt8MultiArray;

class Publisher {
 public:
  /// `intraprocess`: every message is an object of its own that rclcpp takes over, as its intra-process communication wants.
  Publisher(std::shared_ptr<rclcpp::Node> node, const Topic& topic, const rclcpp::QoS& qos, bool intraprocess)
      : node_(std::move(node)), bytes_(topic.message_bytes), intraprocess_(intraprocess) {
    publisher_ = node_->create_publisher<Message>("/" + topic.name, qos);
    if (!intraprocess_) message_ = filled();
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    try {
      if (!message_) message_ = filled();
    } catch (const std::exception& error) {
      failure_.note(error);
      return {};
    }
    return std::as_writable_bytes(std::span(message_->data));
  }

  [[nodiscard]] Published publish() noexcept {
    try {
      if (intraprocess_) {
        publisher_->publish(std::move(message_));
      } else {
        publisher_->publish(*message_);
      }
      return Published::ok;
    } catch (const std::exception& error) {
      failure_.note(error);
      return Published::failed;
    }
  }

  [[nodiscard]] std::size_t matched() { return publisher_->get_subscription_count(); }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  [[nodiscard]] std::unique_ptr<Message> filled() const {
    auto message = std::make_unique<Message>();
    message->data.resize(bytes_);
    return message;
  }

  std::shared_ptr<rclcpp::Node> node_;
  std::size_t bytes_;
  bool intraprocess_;
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
  std::unique_ptr<Message> message_;
  LastFailure failure_;
};

class Subscriber : public Receiver {
 public:
  Subscriber(std::shared_ptr<rclcpp::Node> node, const Topic& topic, const rclcpp::QoS& qos, Reception reception,
             std::string executor)
      : Receiver(node, reception, std::move(executor)) {
    message_.data.reserve(topic.message_bytes);
    subscription_ = node->create_subscription<Message>(
        "/" + topic.name, qos, [inlet = inlet_](const Message& message) { (*inlet)(message.data); });
    if (!wait_set_) return;
    rclcpp::SubscriptionWaitSetMask messages_only;
    messages_only.include_events = false;
    messages_only.include_intra_process_waitable = false;
    wait_set_->add_subscription(subscription_, messages_only);
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    try {
      while (visits < most_at_once && subscription_->take(message_, info_)) {
        visitor(std::as_bytes(std::span(std::as_const(message_.data))));
        ++visits;
      }
    } catch (const std::exception& error) {
      failure_.note(error);
    }
    return visits;
  }

  [[nodiscard]] std::size_t publishers_found() { return subscription_->get_publisher_count(); }

 private:
  std::shared_ptr<rclcpp::Subscription<Message>> subscription_;
  Message message_;
  rclcpp::MessageInfo info_;
};

}  // namespace middlemark::ros2
