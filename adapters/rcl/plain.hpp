// A plain message type, `uint8[N] data`, whose N is known only when the trial starts. rosidl would need a separate
// generated type for each N. This file implements the functions of such a type for every N, for RMWs over Fast DDS.
// Only plain types can be loaned.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fastcdr/Cdr.h>
#include <middlemark/settings.hpp>
#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/string_functions.h>
#include <rosidl_runtime_c/type_description/type_description__functions.h>
#include <rosidl_typesupport_fastrtps_c/identifier.h>
#include <rosidl_typesupport_fastrtps_cpp/message_type_support.h>

namespace middlemark::rcl {

/// One type, with the values that its functions return.
struct PlainType {
  std::size_t bytes = 0;
  std::string name;
  rosidl_type_hash_t hash{};
  rosidl_runtime_c__type_description__TypeDescription description{};
  rosidl_runtime_c__type_description__TypeSource__Sequence sources{};
  message_type_support_callbacks_t callbacks{};
  rosidl_message_type_support_t support{};
};

/// The types of this process. The functions of a type support have no argument that identifies the type, so each type
/// has its own functions.
class PlainTypes {
 public:
  static constexpr std::size_t most = 8;

  /// Returns the type support of `uint8[bytes] data`. Throws an AdapterError if the trial has more sizes than types.
  [[nodiscard]] static const rosidl_message_type_support_t* of(std::size_t bytes) {
    for (std::size_t i = 0; i < made; ++i) {
      if (types[i].bytes == bytes) return &types[i].support;
    }
    if (made == most) {
      throw AdapterError("rcl: loans of more than " + std::to_string(most) + " sizes in one process",
                         "use fewer sizes, or loan = false");
    }
    PlainType& type = types[made];
    type.bytes = bytes;
    type.name = "Octets" + std::to_string(bytes);
    const std::string full_name = "middlemark_interfaces/msg/" + type.name;
    if (!rosidl_runtime_c__type_description__TypeDescription__init(&type.description) ||
        !rosidl_runtime_c__String__assign(&type.description.type_description.type_name, full_name.c_str())) {
      throw std::bad_alloc();
    }
    type.hash.version = 1;
    for (std::size_t i = 0; i < sizeof bytes; ++i) type.hash.value[i] = static_cast<std::uint8_t>(bytes >> (8 * i));
    [&]<std::size_t... slot>(std::index_sequence<slot...>) {
      static_cast<void>(((slot == made && (fill<slot>(), true)) || ...));
    }(std::make_index_sequence<most>());
    ++made;
    return &type.support;
  }

 private:
  static inline std::array<PlainType, most> types;
  static inline std::size_t made = 0;

  template <std::size_t slot>
  static void fill() {
    PlainType& type = types[slot];
    type.callbacks.message_namespace_ = "middlemark_interfaces::msg";
    type.callbacks.message_name_ = type.name.c_str();
    type.callbacks.cdr_serialize = [](const void* message, eprosima::fastcdr::Cdr& cdr) {
      cdr.serialize_array(static_cast<const std::uint8_t*>(message), types[slot].bytes);
      return true;
    };
    type.callbacks.cdr_deserialize = [](eprosima::fastcdr::Cdr& cdr, void* message) {
      cdr.deserialize_array(static_cast<std::uint8_t*>(message), types[slot].bytes);
      return true;
    };
    type.callbacks.get_serialized_size = [](const void*) { return static_cast<std::uint32_t>(types[slot].bytes); };
    type.callbacks.max_serialized_size = [](char& bounds) {
      bounds = ROSIDL_TYPESUPPORT_FASTRTPS_PLAIN_TYPE;
      return types[slot].bytes;
    };
    type.support.typesupport_identifier = rosidl_typesupport_fastrtps_c__identifier;
    type.support.data = &type.callbacks;
    type.support.func = get_message_typesupport_handle_function;
    type.support.get_type_hash_func = [](const rosidl_message_type_support_t*) {
      return static_cast<const rosidl_type_hash_t*>(&types[slot].hash);
    };
    type.support.get_type_description_func = [](const rosidl_message_type_support_t*) {
      return static_cast<const rosidl_runtime_c__type_description__TypeDescription*>(&types[slot].description);
    };
    type.support.get_type_description_sources_func = [](const rosidl_message_type_support_t*) {
      return static_cast<const rosidl_runtime_c__type_description__TypeSource__Sequence*>(&types[slot].sources);
    };
  }
};

}  // namespace middlemark::rcl
