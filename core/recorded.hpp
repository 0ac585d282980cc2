// The sizes and instants of a topic's messages, which the launcher provides as files. Read before the start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Returns the numbers in a file; an empty list if the path is empty. Throws AdapterError.
template <class Number>
[[nodiscard]] std::vector<Number> read_numbers(const std::string& path) {
  if (path.empty()) return {};
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(path, code);
  std::vector<Number> numbers(code ? 0 : bytes / sizeof(Number));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
  if (!file || numbers.empty() || bytes % sizeof(Number) != 0) {
    throw AdapterError(path + ": missing, empty, or not a list of integers of " + std::to_string(sizeof(Number)) +
                       " bytes each");
  }
  return numbers;
}

/// The size of each message of a topic.
class Sizes {
 public:
  explicit Sizes(const TopicRequest& topic)
      : largest_(topic.message_bytes), sizes_(read_numbers<std::uint32_t>(topic.sizes_path)) {
    const auto fits = [this](std::uint32_t bytes) { return bytes >= header_bytes && bytes <= largest_; };
    if (!std::ranges::all_of(sizes_, fits)) {
      throw AdapterError(topic.sizes_path + ": contains a size below " + std::to_string(header_bytes) + " or above " +
                         std::to_string(largest_) + " bytes");
    }
  }

  [[nodiscard]] bool vary() const noexcept { return !sizes_.empty(); }
  /// Returns the size of the message with this sequence number (from 1). Warm-up messages and measured messages are
  /// numbered separately.
  [[nodiscard]] std::size_t bytes(std::uint64_t sequence) const noexcept {
    return sizes_.empty() ? largest_ : sizes_[(sequence - 1) % sizes_.size()];
  }

 private:
  std::size_t largest_;
  std::vector<std::uint32_t> sizes_;
};

/// Returns the recorded instants in ticks from the start; an empty list if the load has none. Throws AdapterError.
[[nodiscard]] inline std::vector<std::uint64_t> recorded_instants(const Load& load, const Clock& clock) {
  std::vector<std::uint64_t> instants = read_numbers<std::uint64_t>(load.instants_path);
  if (!std::ranges::is_sorted(instants) || (!instants.empty() && instants.back() >= load.lap_ns)) {
    throw AdapterError(load.instants_path + ": instants must ascend and stay below the lap of " +
                       std::to_string(load.lap_ns) + " ns");
  }
  for (std::uint64_t& instant : instants) instant = clock.to_ticks(instant);
  return instants;
}

}  // namespace middlemark
