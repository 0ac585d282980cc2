// The messages that rosidl's generator for C++ makes. Octets are std_msgs/msg/UInt8MultiArray; the other types exist if
// their packages were found.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <middlemark/kit/messages.hpp>
#include <middlemark/settings.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#if __has_include(<sensor_msgs/msg/image.hpp>)
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>
#define MIDDLEMARK_RCLCPP_SENSORS
#endif
#if __has_include(<tf2_msgs/msg/tf_message.hpp>)
#include <tf2_msgs/msg/tf_message.hpp>
#define MIDDLEMARK_RCLCPP_TF
#endif

namespace middlemark::ros2 {

struct Fields : kit::StandardFields {
  using Octets = std_msgs::msg::UInt8MultiArray;
#ifdef MIDDLEMARK_RCLCPP_SENSORS
  using Image = sensor_msgs::msg::Image;
  using PointCloud = sensor_msgs::msg::PointCloud2;
  using Imu = sensor_msgs::msg::Imu;
#endif
#ifdef MIDDLEMARK_RCLCPP_TF
  using Tf = tf2_msgs::msg::TFMessage;
#endif
};

/// The shape of octets, in the form of those in kit/messages.hpp.
template <class Types>
struct Octets {
  using Struct = typename Types::Octets;

  static void compose(Struct& message, std::size_t bytes) { Types::resize(message.data, bytes); }
  [[nodiscard]] static bool intact(const Struct& /*message*/, std::size_t /*bytes*/) noexcept { return true; }
  [[nodiscard]] static auto array(auto& message) noexcept {
    return std::as_writable_bytes(Types::elements(message.data));
  }
};

/// The types that with_type() knows.
inline const std::vector<MessageType> types{
    MessageType::octets,
#ifdef MIDDLEMARK_RCLCPP_SENSORS
    MessageType::image,  MessageType::point_cloud, MessageType::imu,
#endif
#ifdef MIDDLEMARK_RCLCPP_TF
    MessageType::tf,
#endif
};

/// Calls `make` with the shape of `type`.
template <class Make>
auto with_type([[maybe_unused]] MessageType type, Make&& make) {
#ifdef MIDDLEMARK_RCLCPP_SENSORS
  if (type == MessageType::image) return make.template operator()<kit::messages::Image>();
  if (type == MessageType::point_cloud) return make.template operator()<kit::messages::PointCloud>();
  if (type == MessageType::imu) return make.template operator()<kit::messages::Imu>();
#endif
#ifdef MIDDLEMARK_RCLCPP_TF
  if (type == MessageType::tf) return make.template operator()<kit::messages::Tf>();
#endif
  return make.template operator()<Octets>();
}

}  // namespace middlemark::ros2
