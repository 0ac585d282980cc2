// A publisher and a subscription that fulfil the adapter's contract. The type of the messages is known only when the
// trial starts, so the parts that depend on it have virtual functions.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/pinned.hpp>
#include <rclcpp/rclcpp.hpp>

#include "listening.hpp"
#include "messages.hpp"
#include "node.hpp"

namespace middlemark::ros2 {

/// A publisher of rclcpp and its message. The functions may throw what rclcpp throws.
class Sender : kit::Pinned {
 public:
  virtual ~Sender() = default;
  /// Returns the main array of the next message.
  [[nodiscard]] virtual std::span<std::byte> array() = 0;
  virtual void publish() = 0;
  [[nodiscard]] virtual std::size_t matched() = 0;
};

template <template <class> class Shape>
class SenderOf final : public Sender {
 public:
  using Message = typename Shape<Fields>::Struct;
  static constexpr bool scattered = kit::MessageOf<Shape, Fields>::scattered;

  /// `intraprocess`: every message is a new object that publish() moves to rclcpp, as intra-process communication
  /// requires.
  SenderOf(rclcpp::Node& node, const Topic& topic, const rclcpp::QoS& qos, bool intraprocess)
      : bytes_(topic.message_bytes),
        intraprocess_(intraprocess),
        numbers_(scattered ? bytes_ : 0),
        publisher_(node.create_publisher<Message>("/" + topic.name, qos)) {
    if (!intraprocess_) compose();
  }

  [[nodiscard]] std::span<std::byte> array() override {
    if (!message_) compose();
    if constexpr (scattered) {
      return numbers_;
    } else {
      return Shape<Fields>::array(*message_);
    }
  }

  void publish() override {
    if constexpr (scattered) Shape<Fields>::scatter(*message_, numbers_);
    if (intraprocess_) return publisher_->publish(std::move(message_));
    publisher_->publish(*message_);
  }

  [[nodiscard]] std::size_t matched() override { return publisher_->get_subscription_count(); }

 private:
  void compose() {
    auto message = std::make_unique<Message>();
    Shape<Fields>::compose(*message, bytes_);
    message_ = std::move(message);
  }

  const std::size_t bytes_;
  const bool intraprocess_;
  std::vector<std::byte> numbers_;  ///< the main array of a type whose numbers are not adjacent; otherwise empty
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
  std::unique_ptr<Message> message_;
};

class Publisher : public kit::Attempts {
 public:
  /// `refused`: the result of publish() if rclcpp throws.
  Publisher(std::shared_ptr<rclcpp::Node> node, const Topic& topic, const rclcpp::QoS& qos, bool intraprocess,
            Published refused)
      : node_(std::move(node)),
        refused_(refused),
        sender_(with_type(topic.type, [&]<template <class> class Shape>() -> std::unique_ptr<Sender> {
          return std::make_unique<SenderOf<Shape>>(*node_, topic, qos, intraprocess);
        })) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept {
    std::span<std::byte> memory;
    attempt("allocating a message", [&] { memory = sender_->array(); });
    return memory;
  }

  [[nodiscard]] Published publish() noexcept {
    return attempt("rclcpp::Publisher::publish", [this] { sender_->publish(); }) ? Published::ok : refused_;
  }

  [[nodiscard]] std::size_t matched() { return sender_->matched(); }

 private:
  std::shared_ptr<rclcpp::Node> node_;
  Published refused_;
  std::unique_ptr<Sender> sender_;
};

/// A subscription of rclcpp, and the message into which it is taken. The functions may throw what rclcpp throws.
class Intake : kit::Pinned {
 public:
  virtual ~Intake() = default;
  /// Takes a message. Returns false if there is none.
  [[nodiscard]] virtual bool take() = 0;
  /// Returns the bytes of the taken message to visit.
  [[nodiscard]] virtual std::span<const std::byte> taken() = 0;
  [[nodiscard]] virtual std::size_t publishers_found() = 0;
  virtual void add_to(rclcpp::WaitSet& wait_set) = 0;
};

template <template <class> class Shape>
class IntakeOf final : public Intake {
 public:
  using Typed = kit::MessageOf<Shape, Fields>;
  using Message = typename Shape<Fields>::Struct;

  IntakeOf(rclcpp::Node& node, const Topic& topic, const rclcpp::QoS& qos, const std::shared_ptr<Inlet>& inlet)
      : message_(std::make_shared<Typed>(topic.message_bytes)),
        subscription_(node.create_subscription<Message>(
            "/" + topic.name, qos,
            [inlet, typed = message_](const Message& message) { (*inlet)(typed->seen(message)); })) {}

  [[nodiscard]] bool take() override { return subscription_->take(message_->message(), info_); }
  [[nodiscard]] std::span<const std::byte> taken() override { return message_->received(); }
  [[nodiscard]] std::size_t publishers_found() override { return subscription_->get_publisher_count(); }

  void add_to(rclcpp::WaitSet& wait_set) override {
    rclcpp::SubscriptionWaitSetMask messages_only;
    messages_only.include_events = false;
    messages_only.include_intra_process_waitable = false;
    wait_set.add_subscription(subscription_, messages_only);
  }

 private:
  std::shared_ptr<Typed> message_;  ///< shared with the callback, which rclcpp may keep longer than this object exists
  std::shared_ptr<rclcpp::Subscription<Message>> subscription_;
  rclcpp::MessageInfo info_;
};

class Subscriber : public Receiver {
 public:
  Subscriber(std::shared_ptr<rclcpp::Node> node, const Topic& topic, const rclcpp::QoS& qos, Reception reception,
             std::string executor)
      : Receiver(node, reception, std::move(executor)),
        intake_(with_type(topic.type, [&]<template <class> class Shape>() -> std::unique_ptr<Intake> {
          return std::make_unique<IntakeOf<Shape>>(*node, topic, qos, inlet_);
        })) {
    if (wait_set_) intake_->add_to(*wait_set_);
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    attempt("rclcpp::Subscription::take", [&] {
      for (; visits < most_per_take && intake_->take(); ++visits) visitor(intake_->taken());
    });
    return visits;
  }

  [[nodiscard]] std::size_t publishers_found() { return intake_->publishers_found(); }

 private:
  std::unique_ptr<Intake> intake_;
};

}  // namespace middlemark::ros2
