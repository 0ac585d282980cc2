// The native keys: what can be set of iceoryx2 beyond what every middleware has.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx2 {

inline constexpr const char* alignment_key = "payload_alignment";
inline constexpr const char* alignment_text =
    "alignment of payloads in bytes, a power of two up to 4096; the library's";

/// 0: it was not set. Whatever else was set is refused.
[[nodiscard]] inline std::size_t native_alignment(const Settings& settings) {
  std::size_t alignment = 0;
  for (const auto& [key, value] : settings.native) {
    if (key != alignment_key) {
      throw AdapterError("iceoryx2: there is no native setting \"" + key + "\"",
                         std::string("there is ") + alignment_key);
    }
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), alignment);
    if (code != std::errc() || end != value.data() + value.size() || !std::has_single_bit(alignment) ||
        alignment > 4096) {
      throw AdapterError("iceoryx2: " + key + ": \"" + value + "\" is not a power of two up to 4096");
    }
  }
  return alignment;
}

}  // namespace middlemark::iceoryx2
