// Computes how many messages one dds_take() copies into the adapter's memory: as many as fit into a processor's cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace middlemark::cyclonedds {

[[nodiscard]] constexpr std::uint32_t copies_at_once(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>((std::size_t{256} << 10) / bytes, 1, 64));
}

}  // namespace middlemark::cyclonedds
