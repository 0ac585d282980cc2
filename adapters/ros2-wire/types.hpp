// The ROS 2 types of a trial with the names that rosidl's generators give them for DDS, in the memory layout of Cyclone
// DDS's C binding. Written by hand, because types from idlc would send an XTypes description, which rmw_cyclonedds does not
// (Humble to Jazzy). Peers match by the type's name.
#pragma once

#include <dds/dds.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace middlemark::ros2_wire {

/// A DDS sequence of octets, or an empty sequence of structs.
struct Sequence {
  std::uint32_t maximum = 0;
  std::uint32_t length = 0;
  void* buffer = nullptr;
  bool release = false;  ///< false: Cyclone DDS neither frees the buffer nor replaces it by a larger one
};
static_assert(sizeof(Sequence) == sizeof(dds_sequence_t) &&
              offsetof(Sequence, buffer) == offsetof(dds_sequence_t, _buffer) &&
              offsetof(Sequence, release) == offsetof(dds_sequence_t, _release));

struct MultiArrayDimension {
  char* label;
  std::uint32_t size;
  std::uint32_t stride;
};

struct MultiArrayLayout {
  Sequence dim;  ///< of MultiArrayDimension; always empty
  std::uint32_t data_offset = 0;
};

/// std_msgs/msg/UInt8MultiArray. Serialized: dim's length, data_offset and data's length (12 bytes), then the data.
struct UInt8MultiArray {
  MultiArrayLayout layout;
  Sequence data;
};

/// A request or a reply with the only field `uint8[] data`, after the header that rmw_cyclonedds adds. Serialized: the
/// header (8 + 8 bytes), data's length (4 bytes), then the data.
struct Call {
  std::uint64_t writer = 0;  ///< instance handle of the client's request writer
  std::int64_t sequence = 0;
  Sequence data;
};
static_assert(std::is_standard_layout_v<UInt8MultiArray> && std::is_standard_layout_v<Call>);

namespace operations {

inline constexpr std::uint32_t octets =
    std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_SEQ} | std::uint32_t{DDS_OP_SUBTYPE_1BY};
inline constexpr std::uint32_t structs =
    std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_SEQ} | std::uint32_t{DDS_OP_SUBTYPE_STU};
inline constexpr std::uint32_t inner = std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_EXT};
inline constexpr std::uint32_t text = std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_STR};
inline constexpr std::uint32_t word = std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_4BY};
inline constexpr std::uint32_t long_word = std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_8BY};

/// Encodes two offsets, in words: to the next operation, and to the operations of the inner type.
[[nodiscard]] constexpr std::uint32_t jump(std::uint32_t next, std::uint32_t type) { return next << 16U | type; }

// clang-format off
inline constexpr auto multi_array = std::to_array<std::uint32_t>({
    inner, offsetof(UInt8MultiArray, layout), jump(3, 6),
    octets, offsetof(UInt8MultiArray, data),
    DDS_OP_RTS,
    structs, offsetof(MultiArrayLayout, dim), sizeof(MultiArrayDimension), jump(4, 7),
    word, offsetof(MultiArrayLayout, data_offset),
    DDS_OP_RTS,
    text, offsetof(MultiArrayDimension, label),
    word, offsetof(MultiArrayDimension, size),
    word, offsetof(MultiArrayDimension, stride),
    DDS_OP_RTS,
});
inline constexpr auto call = std::to_array<std::uint32_t>({
    long_word, offsetof(Call, writer),
    long_word, offsetof(Call, sequence),
    octets, offsetof(Call, data),
    DDS_OP_RTS,
});
// clang-format on

}  // namespace operations

template <class Sample, std::size_t Words>
[[nodiscard]] constexpr dds_topic_descriptor_t descriptor(const char* name,
                                                          const std::array<std::uint32_t, Words>& words,
                                                          std::uint32_t operation_count) {
  return {.m_size = sizeof(Sample),
          .m_align = alignof(Sample),
          .m_flagset = 0,
          .m_nkeys = 0,
          .m_typename = name,
          .m_keys = nullptr,
          .m_nops = operation_count,
          .m_ops = words.data(),
          .m_meta = "",
          .type_information = {nullptr, 0},
          .type_mapping = {nullptr, 0},
          .restrict_data_representation = 0};
}

inline constexpr dds_topic_descriptor_t multi_array_type =
    descriptor<UInt8MultiArray>("std_msgs::msg::dds_::UInt8MultiArray_", operations::multi_array, 10);
inline constexpr dds_topic_descriptor_t request_type =
    descriptor<Call>("middlemark_interfaces::srv::dds_::Bytes_Request_", operations::call, 4);
inline constexpr dds_topic_descriptor_t reply_type =
    descriptor<Call>("middlemark_interfaces::srv::dds_::Bytes_Response_", operations::call, 4);

}  // namespace middlemark::ros2_wire
