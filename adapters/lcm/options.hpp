// What the settings of a trial, and the native ones, become in LCM.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "sockets.hpp"

namespace middlemark::lcm {

struct Options {
  int queue_capacity = 1;  ///< messages of one publisher; 0: no bound
  std::uint64_t receive_buffer = 0;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings) {
    constexpr std::uint64_t least_buffer = std::uint64_t{2} << 20;  // what LCM's manual advises
    const std::uint64_t most = largest_receive_buffer();
    const std::uint64_t wanted = std::max(
        least_buffer, 2 * std::uint64_t{settings.message_bytes} * std::max(settings.publishers, settings.subscribers));
    receive_buffer = std::min(wanted, most);
    if (wanted > most && settings.message_bytes > most / 4) {
      notes.push_back("the receive buffer is " + std::to_string(most) + " bytes where " + std::to_string(wanted) +
                      " are wanted: messages may be lost; sudo sysctl -w net.core.rmem_max=" + std::to_string(wanted));
    }
    const std::uint64_t fitting =
        std::clamp<std::uint64_t>(queue_bytes / (settings.message_bytes + 256), 30, 1'000'000);
    queue_capacity = static_cast<int>(std::min<std::uint64_t>(settings.depth.value_or(1'000'000), fitting));
    if (settings.depth.value_or(1'000'000) > fitting) {
      notes.push_back((settings.depth ? "a depth of " + std::to_string(*settings.depth) : std::string("keep-all")) +
                      " became " + std::to_string(queue_capacity) +
                      " messages of each publisher, which is 256 MiB; native queue_capacity changes it");
    }
    for (const auto& [key, value] : settings.native) {
      if (key == "queue_capacity") {
        queue_capacity = static_cast<int>(number(key, value, 0, 10'000'000));
      } else if (key == "recv_buf_size") {
        receive_buffer = number(key, value, 1, std::uint64_t{1} << 30);
      } else {
        throw AdapterError("lcm: native." + key + " is not a setting", "one of queue_capacity, recv_buf_size");
      }
    }
  }

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {
        {"queue_capacity", "messages of each publisher that wait for the subscriber; 0: no bound (the depth)"},
        {"recv_buf_size",
         "the kernel's receive buffer in bytes (2 MiB or two messages of each, as far as "
         "net.core.rmem_max allows)"},
    };
  }

 private:
  static constexpr std::uint64_t queue_bytes = std::uint64_t{256} << 20;

  [[nodiscard]] static std::uint64_t number(const std::string& key, const std::string& value, std::uint64_t least,
                                            std::uint64_t most) {
    std::uint64_t found = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, found);
    if (error != std::errc{} || end != last || found < least || found > most) {
      throw AdapterError("lcm: native." + key + " = '" + value + "' is not a whole number from " +
                         std::to_string(least) + " to " + std::to_string(most));
    }
    return found;
  }
};

}  // namespace middlemark::lcm
