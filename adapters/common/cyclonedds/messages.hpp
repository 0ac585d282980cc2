// Makes the structs that idlc generated from messages.idl usable by kit/messages.hpp: defines its `Types` for them.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <middlemark/kit/messages.hpp>

#ifdef MIDDLEMARK_IDLC
#include <messages.h>
#endif

namespace middlemark::cyclonedds {

#ifdef MIDDLEMARK_IDLC

template <class Struct>
inline constexpr const dds_topic_descriptor_t* descriptor_of = nullptr;
template <>
inline constexpr const dds_topic_descriptor_t* descriptor_of<sensor_msgs_msg_dds__Image_> =
    &sensor_msgs_msg_dds__Image__desc;
template <>
inline constexpr const dds_topic_descriptor_t* descriptor_of<sensor_msgs_msg_dds__PointCloud2_> =
    &sensor_msgs_msg_dds__PointCloud2__desc;
template <>
inline constexpr const dds_topic_descriptor_t* descriptor_of<sensor_msgs_msg_dds__Imu_> =
    &sensor_msgs_msg_dds__Imu__desc;
template <>
inline constexpr const dds_topic_descriptor_t* descriptor_of<tf2_msgs_msg_dds__TFMessage_> =
    &tf2_msgs_msg_dds__TFMessage__desc;

struct IdlTypes {
  using Image = sensor_msgs_msg_dds__Image_;
  using PointCloud = sensor_msgs_msg_dds__PointCloud2_;
  using Imu = sensor_msgs_msg_dds__Imu_;
  using Tf = tf2_msgs_msg_dds__TFMessage_;

  template <class Struct>
  struct Owned : Struct {
    Owned() : Struct{} {}
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { dds_sample_free(static_cast<Struct*>(this), descriptor_of<Struct>, DDS_FREE_CONTENTS); }
  };

  static void set(char*& text, const char* words) {
    dds_string_free(text);
    text = dds_string_dup(words);
  }
  [[nodiscard]] static bool is(const char* text, const char* words) noexcept {
    return text != nullptr && std::strcmp(text, words) == 0;
  }
  /// `sequence` must be empty.
  static void resize(auto& sequence, std::size_t elements) {
    const std::size_t bytes = elements * sizeof *sequence._buffer;
    sequence._buffer = static_cast<decltype(sequence._buffer)>(dds_alloc(bytes));
    std::memset(static_cast<void*>(sequence._buffer), 0, bytes);
    sequence._length = sequence._maximum = static_cast<std::uint32_t>(elements);
    sequence._release = true;
  }
  [[nodiscard]] static auto elements(auto& sequence) noexcept { return std::span(sequence._buffer, sequence._length); }
};

inline const std::vector<MessageType> types = kit::all_types;

[[nodiscard]] inline const dds_topic_descriptor_t& type_of(MessageType type) {
  return *kit::with_shape(
      type, []<template <class> class Shape>() { return descriptor_of<typename Shape<IdlTypes>::Struct>; });
}
[[nodiscard]] inline std::unique_ptr<kit::TypedMessage> make_message(MessageType type, std::size_t bytes) {
  return kit::make_message<IdlTypes>(type, bytes);
}

#else

inline const std::vector<MessageType> types{MessageType::octets};

[[nodiscard]] inline const dds_topic_descriptor_t& type_of(MessageType /*type*/) {
  throw AdapterError("Cyclone DDS: this worker was built without idlc and supports only octets",
                     "apt install cyclonedds-tools, then build the worker again");
}
[[nodiscard]] inline std::unique_ptr<kit::TypedMessage> make_message(MessageType /*type*/, std::size_t /*bytes*/) {
  return nullptr;
}

#endif

}  // namespace middlemark::cyclonedds
