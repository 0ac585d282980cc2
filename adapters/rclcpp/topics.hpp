// A publisher and a subscription of std_msgs/msg/UInt8MultiArray that fulfil the adapter's contract.
#pragma once

#include <cstddef>
#include <memory>
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

class Publisher : public kit::Attempts {
 public:
  /// `intraprocess`: every message is a new object that publish() moves to rclcpp, as intra-process communication
  /// requires. `refused`: the result of publish() if rclcpp throws.
  Publisher(std::shared_ptr<rclcpp::Node> node, const Topic& topic, const rclcpp::QoS& qos, bool intraprocess,
            Published refused)
      : node_(std::move(node)), bytes_(topic.message_bytes), intraprocess_(intraprocess), refused_(refused) {
    publisher_ = node_->create_publisher<Message>("/" + topic.name, qos);
    if (!intraprocess_) message_ = filled();
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept {
    if (!message_ && !attempt("allocating a message", [this] { message_ = filled(); })) return {};
    return std::as_writable_bytes(std::span(message_->data));
  }

  [[nodiscard]] Published publish() noexcept {
    const bool published = attempt("rclcpp::Publisher::publish", [this] {
      if (intraprocess_) return publisher_->publish(std::move(message_));
      publisher_->publish(*message_);
    });
    return published ? Published::ok : refused_;
  }

  [[nodiscard]] std::size_t matched() { return publisher_->get_subscription_count(); }

 private:
  [[nodiscard]] std::unique_ptr<Message> filled() const {
    auto message = std::make_unique<Message>();
    message->data.resize(bytes_);
    return message;
  }

  std::shared_ptr<rclcpp::Node> node_;
  std::size_t bytes_;
  bool intraprocess_;
  Published refused_;
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
  std::unique_ptr<Message> message_;
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
    attempt("rclcpp::Subscription::take", [&] {
      for (; visits < most_per_take && subscription_->take(message_, info_); ++visits) {
        visitor(std::as_bytes(std::span(std::as_const(message_.data))));
      }
    });
    return visits;
  }

  [[nodiscard]] std::size_t publishers_found() { return subscription_->get_publisher_count(); }

 private:
  std::shared_ptr<rclcpp::Subscription<Message>> subscription_;
  Message message_;
  rclcpp::MessageInfo info_;
};

}  // namespace middlemark::ros2
