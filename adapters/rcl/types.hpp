// The messages that rosidl's generator for C makes, and their type supports.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <geometry_msgs/msg/detail/transform_stamped__functions.h>
#include <middlemark/adapter.hpp>
#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/pinned.hpp>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>
#include <sensor_msgs/msg/detail/point_field__functions.h>
#include <sensor_msgs/msg/image.h>
#include <sensor_msgs/msg/imu.h>
#include <sensor_msgs/msg/point_cloud2.h>
#include <std_msgs/msg/u_int8_multi_array.h>
#include <tf2_msgs/msg/tf_message.h>

#if __has_include(<rcl/version.h>)
#include <rcl/version.h>
#endif
#ifdef MIDDLEMARK_ROS2_WHEELS
#if RCL_VERSION_MAJOR >= 10
#include "plain.hpp"
#define MIDDLEMARK_RCL_LOANS
#else
// The RMW of Jazzy accepts only types that have an introspection type support. The adapter's own types have none.
#define MIDDLEMARK_RCL_NO_OWN_TYPES
#endif
#endif

namespace middlemark::rcl {

/// The generated functions of a struct: to initialise and release it, and for the RMW to (de)serialise it.
template <class Struct>
struct Generated;

#define MIDDLEMARK_RCL_GENERATED(package, name)                                                                       \
  template <>                                                                                                         \
  struct Generated<package##__msg__##name> {                                                                          \
    static bool init(package##__msg__##name* it) { return package##__msg__##name##__init(it); }                       \
    static void fini(package##__msg__##name* it) { package##__msg__##name##__fini(it); }                              \
    static const rosidl_message_type_support_t* support() { return ROSIDL_GET_MSG_TYPE_SUPPORT(package, msg, name); } \
  };
MIDDLEMARK_RCL_GENERATED(std_msgs, UInt8MultiArray)
MIDDLEMARK_RCL_GENERATED(sensor_msgs, Image)
MIDDLEMARK_RCL_GENERATED(sensor_msgs, PointCloud2)
MIDDLEMARK_RCL_GENERATED(sensor_msgs, Imu)
MIDDLEMARK_RCL_GENERATED(tf2_msgs, TFMessage)
#undef MIDDLEMARK_RCL_GENERATED

/// A generated struct that releases what it owns. Its fields are zero first, because the generated init() sets only texts
/// and sequences.
template <class Struct>
struct Owned : Struct, kit::Pinned {
  Owned() : Struct{} {
    if (!Generated<Struct>::init(this)) throw std::bad_alloc();
  }
  ~Owned() { Generated<Struct>::fini(this); }
};

/// Access to the texts and sequences of the C structs.
struct CFields {
  using Image = sensor_msgs__msg__Image;
  using PointCloud = sensor_msgs__msg__PointCloud2;
  using Imu = sensor_msgs__msg__Imu;
  using Tf = tf2_msgs__msg__TFMessage;
  template <class Struct>
  using Owned = rcl::Owned<Struct>;

  static void set(rosidl_runtime_c__String& text, const char* words) {
    if (!rosidl_runtime_c__String__assign(&text, words)) throw std::bad_alloc();
  }
  [[nodiscard]] static bool is(const rosidl_runtime_c__String& text, const char* words) noexcept {
    return std::string_view(text.data, text.size) == words;
  }
  static void resize(rosidl_runtime_c__uint8__Sequence& sequence, std::size_t elements) {
    made(rosidl_runtime_c__uint8__Sequence__init(&sequence, elements));
  }
  static void resize(sensor_msgs__msg__PointField__Sequence& sequence, std::size_t elements) {
    made(sensor_msgs__msg__PointField__Sequence__init(&sequence, elements));
  }
  static void resize(geometry_msgs__msg__TransformStamped__Sequence& sequence, std::size_t elements) {
    made(geometry_msgs__msg__TransformStamped__Sequence__init(&sequence, elements));
  }
  [[nodiscard]] static auto elements(auto& sequence) noexcept { return std::span(sequence.data, sequence.size); }

 private:
  static void made(bool made) {
    if (!made) throw std::bad_alloc();
  }
};

/// Octets as std_msgs/msg/UInt8MultiArray. `bytes`: the largest size.
class Octets final : public kit::TypedMessage {
 public:
  explicit Octets(std::size_t bytes) : bytes_(bytes) { CFields::resize(message_.data, bytes); }

  void resize(std::size_t bytes) noexcept { message_.data.size = std::min(bytes, bytes_); }
  [[nodiscard]] std::span<std::byte> array() noexcept override {
    return std::as_writable_bytes(CFields::elements(message_.data));
  }
  [[nodiscard]] void* to_send() noexcept override { return to_fill(); }
  [[nodiscard]] void* to_fill() noexcept override { return static_cast<std_msgs__msg__UInt8MultiArray*>(&message_); }
  [[nodiscard]] std::span<const std::byte> received() noexcept override { return array(); }

 private:
  std::size_t bytes_;
  Owned<std_msgs__msg__UInt8MultiArray> message_;
};

[[nodiscard]] inline std::unique_ptr<kit::TypedMessage> make_message(const Topic& topic) {
  if (topic.type == MessageType::octets) return std::make_unique<Octets>(topic.message_bytes);
  return kit::make_message<CFields>(topic.type, topic.message_bytes);
}

/// Returns the type support of the topic's messages. `loan`: true if the type must be plain.
[[nodiscard]] inline const rosidl_message_type_support_t* support_of(const Topic& topic, [[maybe_unused]] bool loan) {
#ifdef MIDDLEMARK_RCL_LOANS
  if (loan) return PlainTypes::of(topic.message_bytes);
#endif
  const MessageType type = topic.type;
  if (type == MessageType::octets) return Generated<std_msgs__msg__UInt8MultiArray>::support();
  return kit::with_shape(
      type, []<template <class> class Shape>() { return Generated<typename Shape<CFields>::Struct>::support(); });
}

}  // namespace middlemark::rcl
