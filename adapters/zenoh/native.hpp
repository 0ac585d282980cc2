// zenoh's own settings that a trial may name.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::zenoh {

/// What follows it is a path of zenoh's configuration, its parts divided by '/'; the value is JSON5.
inline constexpr std::string_view config_prefix = "config.";
inline constexpr std::size_t default_fifo_capacity = 256;  ///< zenoh's own
inline constexpr std::uint8_t default_priority = 5;        ///< data, zenoh's own

/// The native settings of a trial, each checked. Throws AdapterError for what is unknown or out of range.
struct Native {
  std::optional<bool> block;
  std::optional<bool> express;
  std::uint8_t priority = default_priority;
  std::optional<std::size_t> batch_size;
  std::optional<bool> ring;
  std::size_t fifo_capacity = default_fifo_capacity;
  std::optional<std::size_t> pool_bytes;
  std::optional<std::size_t> shm_threshold;
  std::vector<std::pair<std::string, std::string>> config;  ///< path and JSON5

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {
        {"congestion",
         "block: publish waits for a full link (default of reliable); drop: the message is dropped (of best-effort)"},
        {"express",
         "true (default of ping-pong and request/reply): each message leaves by itself; false (default of streams, and "
         "zenoh's own): messages share a batch"},
        {"priority", "real-time, interactive-high, interactive-low, data-high, data (default), data-low or background"},
        {"batch_size", "bytes of the largest batch; a larger message goes in fragments (default 65535)"},
        {"channel",
         "ring: a full channel loses its oldest message (default with a depth); fifo: it holds zenoh's thread up, "
         "which "
         "is back-pressure (default of keep-all)"},
        {"fifo_capacity", "messages that a FIFO channel holds under keep-all (default 256, as zenoh's)"},
        {"shm_pool_bytes", "shared memory that each process sends from (default: see README)"},
        {"shm_threshold",
         "bytes from which on a message that is not loaned is copied into shared memory (default 1: all; zenoh's own "
         "is 3072)"},
        {std::string(config_prefix) + "*",
         "any path of zenoh's configuration, with '/' between its parts, as JSON5; it has the last word"},
    };
  }

  explicit Native(const std::map<std::string, std::string>& given) {
    for (const auto& [name, text] : given) {
      if (name.starts_with(config_prefix) && name.size() > config_prefix.size()) {
        config.emplace_back(name.substr(config_prefix.size()), text);
      } else if (name == "congestion") {
        block = choice(name, text, {"drop", "block"}) == 1;
      } else if (name == "express") {
        express = choice(name, text, {"false", "true"}) == 1;
      } else if (name == "priority") {
        // zenoh's numbers begin at 1
        priority = static_cast<std::uint8_t>(1 + choice(name, text,
                                                        {"real-time", "interactive-high", "interactive-low",
                                                         "data-high", "data", "data-low", "background"}));
      } else if (name == "batch_size") {
        batch_size = number(name, text, 256, 65'535);
      } else if (name == "channel") {
        ring = choice(name, text, {"fifo", "ring"}) == 1;
      } else if (name == "fifo_capacity") {
        fifo_capacity = number(name, text, 1, 10'000'000);
      } else if (name == "shm_pool_bytes") {
        pool_bytes = number(name, text, 4096, std::size_t{1} << 40);
      } else if (name == "shm_threshold") {
        shm_threshold = number(name, text, 1, std::size_t{1} << 40);
      } else {
        throw AdapterError("zenoh: native: there is no key '" + name + "'",
                           "`middlemark list adapters --verbose` names them");
      }
    }
  }

 private:
  static std::size_t choice(const std::string& name, const std::string& text,
                            const std::vector<std::string_view>& words) {
    const auto found = std::ranges::find(words, text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string known;
    for (const std::string_view each : words) known.append(known.empty() ? "" : ", ").append(each);
    throw AdapterError("zenoh: native: " + name + ": '" + text + "' is none of " + known);
  }

  static std::size_t number(const std::string& name, const std::string& text, std::size_t least, std::size_t most) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      throw AdapterError("zenoh: native: " + name + ": '" + text + "' is not a whole number from " +
                         std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }
};

}  // namespace middlemark::zenoh
