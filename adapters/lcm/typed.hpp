// Typed messages: (de)serialises the classes that lcm-gen generates from messages.lcm. MIDDLEMARK_LCM_MESSAGES is
// defined if lcm-gen was found; otherwise the adapter supports only octets.
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include <middlemark/kit/typed.hpp>

#include "adapter.hpp"

#ifdef MIDDLEMARK_LCM_MESSAGES
#include <middlemark_lcm/image_t.hpp>
#include <middlemark_lcm/imu_t.hpp>
#include <middlemark_lcm/point_cloud_t.hpp>
#include <middlemark_lcm/tf_t.hpp>

namespace middlemark::lcm {

struct GeneratedCoding : kit::StandardFields {
  using Image = middlemark_lcm::image_t;
  using PointCloud = middlemark_lcm::point_cloud_t;
  using Imu = middlemark_lcm::imu_t;
  using Tf = middlemark_lcm::tf_t;

  static constexpr const char* name = "lcm-gen";

  template <class Message>
  [[nodiscard]] static std::size_t encode(Message& message, std::span<std::byte> memory) noexcept {
    if constexpr (requires { message.data_size; }) message.data_size = static_cast<std::int32_t>(message.data.size());
    if constexpr (requires { message.fields_size; })
      message.fields_size = static_cast<std::int32_t>(message.fields.size());
    if constexpr (requires { message.transforms_size; }) {
      message.transforms_size = static_cast<std::int32_t>(message.transforms.size());
    }
    const int bytes = message.encode(memory.data(), 0, static_cast<int>(memory.size()));
    return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
  }
  template <class Message>
  [[nodiscard]] static bool decode(Message& message, std::span<const std::byte> bytes) noexcept {
    try {
      return message.decode(bytes.data(), 0, static_cast<int>(bytes.size())) >= 0;
    } catch (const std::exception&) {  // thrown for an invalid length
      return false;
    }
  }
};

using TypedLcm = kit::Typed<Lcm, GeneratedCoding>;

}  // namespace middlemark::lcm
#else
namespace middlemark::lcm {

using TypedLcm = Lcm;

}  // namespace middlemark::lcm
#endif
