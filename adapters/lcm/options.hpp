// Native settings, and the LCM options that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::lcm {

/// Returns the largest receive buffer in bytes that a process may request. LCM prints a warning if the kernel grants
/// less than it requests.
[[nodiscard]] inline std::uint64_t largest_receive_buffer() { return kit::kernel_limit("net/core/rmem_max", 212'992); }

/// Returns the default size of a socket's receive buffer in bytes.
[[nodiscard]] inline std::uint64_t usual_receive_buffer() {
  return kit::kernel_limit("net/core/rmem_default", 212'992);
}

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::optional<int> queue_capacity =
      key<int>("queue_capacity", {.help = "messages of each publisher that wait for the subscriber; 0: no bound",
                                  .least = 0,
                                  .most = 10'000'000,
                                  .otherwise = "the depth"});
  std::optional<std::uint64_t> recv_buf_size = key<std::uint64_t>(
      "recv_buf_size", {.help = "the kernel's receive buffer",
                        .least = 1,
                        .most = 1 << 30,
                        .otherwise = "2 MiB or two messages of each publisher, as far as `net.core.rmem_max` allows",
                        .type = NativeType::bytes});
};

struct Options {
  std::uint64_t receive_buffer = 0;  ///< bytes; 0: the kernel's default
  std::vector<std::string> notes;

  explicit Options(const Settings& settings) : native_(kit::read_native<Native>("lcm", settings)) {
    if (settings.is_default_configuration()) {
      is_default_ = true;
      return;
    }
    // Count all publishers: every socket receives the messages of all topics.
    std::uint64_t publishers = 0;
    for (const Topic& topic : settings.endpoints) publishers += topic.publishers;
    constexpr std::uint64_t least_buffer = std::uint64_t{2} << 20;  // the advice of LCM's manual
    const std::uint64_t most = largest_receive_buffer();
    const std::uint64_t wanted = std::max(least_buffer, 2 * settings.message_bytes * publishers);
    receive_buffer = native_.recv_buf_size.value_or(std::min(wanted, most));
    if (wanted > most && settings.message_bytes > most / 4) {
      notes.push_back("the receive buffer is " + std::to_string(most) + " bytes, but " + std::to_string(wanted) +
                      " are needed, so messages may be lost; raise the limit with sudo sysctl -w net.core.rmem_max=" +
                      std::to_string(wanted));
    }
    std::set<std::string> bounded;  // a set, so that topics with the same note add it once
    for (const Topic& topic : settings.endpoints) {
      const std::uint64_t depth = topic.depth.value_or(keep_all);
      if (depth <= fitting(topic)) continue;
      bounded.insert((topic.depth ? "a depth of " + std::to_string(depth) : std::string("keep-all")) +
                     " was limited to " + std::to_string(fitting(topic)) +
                     " messages of each publisher, which are 256 MiB; native queue_capacity changes this limit");
    }
    notes.insert(notes.end(), bounded.begin(), bounded.end());
  }

  /// Returns how many messages of one publisher the queue may contain; 0: no limit; nullopt: LCM's default.
  [[nodiscard]] std::optional<int> queue_capacity(const Topic& topic) const {
    if (is_default_ && !topic.depth && !native_.queue_capacity) return std::nullopt;
    const std::uint64_t depth = topic.depth.value_or(keep_all);
    return native_.queue_capacity.value_or(static_cast<int>(std::min(depth, fitting(topic))));
  }

 private:
  static constexpr std::uint32_t keep_all = 1'000'000;

  [[nodiscard]] static std::uint64_t fitting(const Topic& topic) {
    constexpr std::uint64_t queue_bytes = std::uint64_t{256} << 20;
    return std::clamp<std::uint64_t>(queue_bytes / (topic.message_bytes + 256), 30, keep_all);
  }

  const Native native_;
  bool is_default_ = false;
};

}  // namespace middlemark::lcm
