// What the launcher hands over as files: the sizes and the instants of a topic's messages. Read before the start.
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

/// The numbers of a file, in memory that has been touched; none where the path is empty. Throws AdapterError.
template <class Number>
[[nodiscard]] std::vector<Number> read_numbers(const std::string& path) {
  if (path.empty()) return {};
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(path, code);
  std::vector<Number> numbers(code ? 0 : bytes / sizeof(Number));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
  if (!file || numbers.empty() || bytes % sizeof(Number) != 0) {
    throw AdapterError(path + ": no whole numbers of " + std::to_string(sizeof(Number)) + " bytes each");
  }
  return numbers;
}

/// How large each message of a topic is. Where all are alike nothing is looked up.
class Sizes {
 public:
  explicit Sizes(const TopicRequest& topic)
      : largest_(topic.message_bytes), turns_(read_numbers<std::uint32_t>(topic.sizes_path)) {
    const auto fits = [this](std::uint32_t bytes) { return bytes >= header_bytes && bytes <= largest_; };
    if (!std::ranges::all_of(turns_, fits)) {
      throw AdapterError(topic.sizes_path + ": a size below " + std::to_string(header_bytes) + " or above " +
                         std::to_string(largest_) + " bytes");
    }
  }

  [[nodiscard]] bool vary() const noexcept { return !turns_.empty(); }
  /// Of the message with that number; they begin at 1, and warm-up messages have their own.
  [[nodiscard]] std::size_t of(std::uint64_t sequence) const noexcept {
    return turns_.empty() ? largest_ : turns_[(sequence - 1) % turns_.size()];
  }

 private:
  std::size_t largest_;
  std::vector<std::uint32_t> turns_;
};

/// In ticks from the start; none where the load has no recorded ones. Throws AdapterError.
[[nodiscard]] inline std::vector<std::uint64_t> recorded_instants(const Load& load, const Clock& clock) {
  std::vector<std::uint64_t> instants = read_numbers<std::uint64_t>(load.instants_path);
  if (!std::ranges::is_sorted(instants) || (!instants.empty() && instants.back() >= load.lap_ns)) {
    throw AdapterError(load.instants_path + ": instants that do not ascend to below the lap of " +
                       std::to_string(load.lap_ns) + " ns");
  }
  for (std::uint64_t& each : instants) each = clock.to_ticks(each);
  return instants;
}

}  // namespace middlemark
