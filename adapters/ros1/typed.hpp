// Typed messages: those of the distribution's sensor_msgs and tf2_msgs. roscpp serializes them.
// MIDDLEMARK_ROS1_MESSAGES is defined if their headers were found; otherwise only octets are offered.
#pragma once

#include <ros/node_handle.h>
#include <ros/publisher.h>
#include <ros/subscribe_options.h>
#include <ros/subscription_callback_helper.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/coding.hpp>
#include <middlemark/kit/messages.hpp>

#include "message.hpp"

#ifdef MIDDLEMARK_ROS1_MESSAGES
#include <sensor_msgs/Image.h>
#include <sensor_msgs/Imu.h>
#include <sensor_msgs/PointCloud2.h>
#include <tf2_msgs/TFMessage.h>
#endif

namespace middlemark::ros1 {

/// A publisher's typed message, with the calls of roscpp that depend on its type.
class TypedOutgoing : kit::Pinned {
 public:
  virtual ~TypedOutgoing() = default;
  [[nodiscard]] virtual std::span<std::byte> array() noexcept = 0;
  [[nodiscard]] virtual ros::Publisher advertise(ros::NodeHandle& node, const std::string& topic, std::uint32_t queue,
                                                 bool latch) = 0;
  /// Publishes the message, and adds to `times` how long roscpp took to serialize it.
  virtual void publish(const ros::Publisher& publisher, CodingTimes& times) = 0;
};

/// Called with the main array of each received message, without its last byte if another part of the message differs from
/// what was sent.
using TypedSink = std::function<void(std::span<const std::byte>)>;

#ifdef MIDDLEMARK_ROS1_MESSAGES

/// std::allocator with `rebind`, which the generated headers need and C++20 removed.
template <class T>
struct Allocator : std::allocator<T> {
  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>& /*other*/) noexcept {}
  template <class U>
  struct rebind {
    using other = Allocator<U>;
  };
};

struct RosTypes : kit::StandardFields {
  using Image = sensor_msgs::Image_<Allocator<void>>;
  using PointCloud = sensor_msgs::PointCloud2_<Allocator<void>>;
  using Imu = sensor_msgs::Imu_<Allocator<void>>;
  using Tf = tf2_msgs::TFMessage_<Allocator<void>>;
};

/// The times of the publisher that publishes on this thread; timed() adds a value. A global variable, because roscpp
/// passes only the message to serializeMessage().
inline thread_local CodingTimes* serializing_times = nullptr;

template <class Message>
ros::SerializedMessage timed(const Message& message) {
  return serializing_times->time([&] { return counted(message); });
}

}  // namespace middlemark::ros1

namespace ros::serialization {

template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::RosTypes::Image& message) {
  return middlemark::ros1::timed(message);
}
template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::RosTypes::PointCloud& message) {
  return middlemark::ros1::timed(message);
}
template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::RosTypes::Imu& message) {
  return middlemark::ros1::timed(message);
}
template <>
inline SerializedMessage serializeMessage(const middlemark::ros1::RosTypes::Tf& message) {
  return middlemark::ros1::timed(message);
}

}  // namespace ros::serialization

namespace middlemark::ros1 {

inline const std::vector<MessageType> types = kit::all_types;

template <template <class> class Shape>
class TypedOutgoingOf final : public TypedOutgoing {
 public:
  explicit TypedOutgoingOf(std::size_t bytes) : message_(bytes) {}
  [[nodiscard]] std::span<std::byte> array() noexcept override { return message_.array(); }
  [[nodiscard]] ros::Publisher advertise(ros::NodeHandle& node, const std::string& topic, std::uint32_t queue,
                                         bool latch) override {
    return node.advertise<typename Shape<RosTypes>::Struct>(topic, queue, latch);
  }
  void publish(const ros::Publisher& publisher, CodingTimes& times) override {
    static_cast<void>(message_.to_send());
    serializing_times = &times;
    publisher.publish(message_.message());
  }

 private:
  kit::MessageOf<Shape, RosTypes> message_;
};

[[nodiscard]] inline std::unique_ptr<TypedOutgoing> make_outgoing(MessageType type, std::size_t bytes) {
  if (type == MessageType::octets) return nullptr;
  return kit::with_shape(type, [bytes]<template <class> class Shape>() -> std::unique_ptr<TypedOutgoing> {
    return std::make_unique<TypedOutgoingOf<Shape>>(bytes);
  });
}

/// Specialises roscpp's helper, which makes a message and deserializes into it before the callback. Records in addition
/// how long that took.
template <class Struct>
class TimedHelper final : public ros::SubscriptionCallbackHelperT<const boost::shared_ptr<const Struct>&> {
  using Base = ros::SubscriptionCallbackHelperT<const boost::shared_ptr<const Struct>&>;

 public:
  TimedHelper(const typename Base::Callback& callback, CodingTimes& times) : Base(callback), times_(times) {}
  ros::VoidConstPtr deserialize(const ros::SubscriptionCallbackHelperDeserializeParams& given) override {
    return times_.time([&] { return Base::deserialize(given); });
  }

 private:
  CodingTimes& times_;
};

inline void subscribe(ros::SubscribeOptions& asked, const std::string& name, std::uint32_t queue, MessageType type,
                      std::size_t bytes, TypedSink sink, CodingTimes& times) {
  kit::with_shape(type, [&]<template <class> class Shape>() {
    using Struct = typename Shape<RosTypes>::Struct;
    const auto expected = std::make_shared<kit::MessageOf<Shape, RosTypes>>(bytes);
    const auto callback = [expected, sink](const boost::shared_ptr<const Struct>& message) {
      sink(expected->seen(*message));
    };
    asked.init<Struct>(name, queue, callback);
    asked.helper = boost::make_shared<TimedHelper<Struct>>(callback, times);
  });
}

#else

inline const std::vector<MessageType> types{MessageType::octets};

[[nodiscard]] inline std::unique_ptr<TypedOutgoing> make_outgoing(MessageType /*type*/, std::size_t /*bytes*/) {
  return nullptr;
}
inline void subscribe(ros::SubscribeOptions& /*asked*/, const std::string& /*name*/, std::uint32_t /*queue*/,
                      MessageType /*type*/, std::size_t /*bytes*/, const TypedSink& /*sink*/, CodingTimes& /*times*/) {}

#endif

}  // namespace middlemark::ros1
