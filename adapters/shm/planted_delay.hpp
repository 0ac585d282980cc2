// A delay planted on purpose, so that `middlemark selftest` can ask whether a known difference is found.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include <middlemark/clock.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::shm {

inline constexpr const char* planted_delay_key = "planted_delay_ns";

/// What every publish() is to take longer; 0: nothing is planted. Throws where the setting is no such time.
[[nodiscard]] inline std::uint64_t planted_delay_ns(const Settings& settings) {
  constexpr std::uint64_t most = 1'000'000'000;
  const auto found = settings.native.find(planted_delay_key);
  if (found == settings.native.end()) return 0;
  const std::string& text = found->second;
  std::uint64_t ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
  if (error != std::errc{} || end != text.data() + text.size() || ns == 0 || ns > most) {
    throw AdapterError("shm: native." + std::string(planted_delay_key) + " = \"" + text +
                       "\": it is a whole number of ns, from 1 to 10^9");
  }
  return ns;
}

/// Returns not before `ns` have passed; it is late by less than two readings of the clock.
inline void spin(std::uint64_t ns) noexcept {
  for (const std::uint64_t until = monotonic_ns() + ns; monotonic_ns() < until;) {
  }
}

}  // namespace middlemark::shm
