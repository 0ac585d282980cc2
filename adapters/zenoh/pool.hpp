// How much shared memory a process sends from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include <middlemark/settings.hpp>

#include "native.hpp"

namespace middlemark::zenoh {

/// zenoh finds out ten times a second what a peer has read, and until then no message's memory is used again: the pool is
/// what may be sent in 100 ms. So it is made for 2048 messages, which is more than a ping sends in that time, within bounds.
inline std::size_t pool_bytes(const Settings& settings, const Native& native) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  constexpr std::size_t least_messages = 8;
  // An allocation's own data and what the alignment costs.
  const std::size_t message = settings.message_bytes + 64;
  const std::size_t least = least_messages * message;
  std::error_code unknown;
  const std::filesystem::space_info shm = std::filesystem::space("/dev/shm", unknown);
  // Touching a page that there is no room for would kill the process. A neighbour may take its part too.
  const std::size_t share =
      unknown ? 64 * mib : static_cast<std::size_t>(shm.available) / 2 / std::max(settings.workers, 1U);
  const std::size_t wanted =
      native.pool_bytes.value_or(std::max(least, std::min(std::clamp(2048 * message, 16 * mib, 256 * mib), share)));
  if (wanted > share) {
    throw AdapterError("zenoh: " + settings.transport + ": each of " + std::to_string(settings.workers) +
                           " processes wants " + std::to_string(wanted) + " bytes of /dev/shm, which has " +
                           std::to_string(unknown ? 0 : shm.available) + " free",
                       "sudo mount -o remount,size=" + std::to_string(wanted * 2 * settings.workers + 64 * mib) +
                           " /dev/shm, or a smaller native.shm_pool_bytes");
  }
  return wanted;
}

}  // namespace middlemark::zenoh
