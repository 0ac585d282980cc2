// The type of a trial's topics, described at run time. The type is a struct of one octet array, so that every size is a
// fixed-size type. If the sizes of a topic's messages vary, the type is a struct of one octet sequence.
#pragma once

#include <dds/dds.h>

#include <array>
#include <cstdint>
#include <string>

#include <middlemark/kit/pinned.hpp>

namespace middlemark::cyclonedds {

/// The descriptor that idlc writes for `@final struct OctetsN { octet data[N]; };`, without the XTypes description,
/// because we would have to compute it. The struct has no key and no padding. So Cyclone DDS serialises it with one
/// memcpy, and accepts it as a fixed-size type, which shared memory and loans require. The descriptor points into this
/// object: create the topics while this object exists.
class OctetsType : kit::Pinned {
 public:
  explicit OctetsType(std::uint32_t bytes)
      : name_("middlemark::Octets" + std::to_string(bytes)),
        operations_{std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_ARR} | std::uint32_t{DDS_OP_SUBTYPE_1BY}, 0,
                    bytes, DDS_OP_RTS},
        descriptor_{.m_size = bytes,
                    .m_align = 1,
                    .m_flagset = DDS_TOPIC_FIXED_SIZE,
                    .m_nkeys = 0,
                    .m_typename = name_.c_str(),
                    .m_keys = nullptr,
                    .m_nops = 2,  // number of operations, not of words
                    .m_ops = operations_.data(),
                    .m_meta = "",
                    .type_information = {nullptr, 0},
                    .type_mapping = {nullptr, 0},
                    .restrict_data_representation = 0} {}

  [[nodiscard]] const dds_topic_descriptor_t& descriptor() const noexcept { return descriptor_; }

 private:
  std::string name_;
  std::array<std::uint32_t, 4> operations_;
  dds_topic_descriptor_t descriptor_;
};

/// The descriptor that idlc writes for `@final struct Octets { sequence<octet> data; };`, which is a dds_sequence_t in
/// C. The struct is not a fixed-size type, so its messages cannot use shared memory.
inline constexpr std::array<std::uint32_t, 3> sequence_operations{
    std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_SEQ} | std::uint32_t{DDS_OP_SUBTYPE_1BY}, 0, DDS_OP_RTS};
inline constexpr dds_topic_descriptor_t sequence_type{.m_size = sizeof(dds_sequence_t),
                                                      .m_align = alignof(dds_sequence_t),
                                                      .m_flagset = 0,
                                                      .m_nkeys = 0,
                                                      .m_typename = "middlemark::Octets",
                                                      .m_keys = nullptr,
                                                      .m_nops = 2,
                                                      .m_ops = sequence_operations.data(),
                                                      .m_meta = "",
                                                      .type_information = {nullptr, 0},
                                                      .type_mapping = {nullptr, 0},
                                                      .restrict_data_representation = 0};

}  // namespace middlemark::cyclonedds
