// The user data that a node, a client and a service send in discovery, as rmw_cyclonedds does. Peers use the ids in it
// to find the reader and the writer that belong to one client.
#pragma once

#include <dds/dds.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <cyclonedds/entity.hpp>
#include <cyclonedds/history.hpp>

namespace middlemark::ros2_wire {

/// Returns the QoS of a node without a security enclave.
[[nodiscard]] inline cyclonedds::Qos participant_qos() {
  constexpr std::string_view enclave = "enclave=/;";
  cyclonedds::Qos qos(dds_create_qos());
  dds_qset_userdata(qos.get(), enclave.data(), enclave.size());
  return qos;
}

/// Returns the participant's GUID with `count` as its entity id, in hexadecimal bytes separated by dots.
[[nodiscard]] inline std::string unique_id(const cyclonedds::Entity& participant, std::uint32_t count) {
  dds_guid_t guid{};
  cyclonedds::checked(dds_get_guid(participant.get(), &guid), "dds_get_guid");
  for (int i = 0; i < 4; ++i) guid.v[12 + i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
  std::string text;
  for (const std::uint8_t byte : guid.v) {
    char digits[4];
    std::snprintf(digits, sizeof digits, text.empty() ? "%x" : ".%x", byte);
    text += digits;
  }
  return text;
}

}  // namespace middlemark::ros2_wire
