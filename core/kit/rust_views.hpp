// The structs that C++ passes to an adapter in Rust, laid out as in settings.rs of the crate. They point to memory that
// C++ keeps; nothing is copied.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace middlemark::kit::rust {

template <class T>
struct List {
  const T* items = nullptr;
  std::size_t count = 0;
};
using Text = List<char>;

template <class T>
struct Maybe {
  bool given;
  T value;
};

template <class T>
[[nodiscard]] T shown(const T& value) {
  return value;
}
[[nodiscard]] inline Text shown(const std::string& text) { return {text.data(), text.size()}; }
template <class T>
[[nodiscard]] List<T> shown(const std::vector<T>& items) {
  return {items.data(), items.size()};
}
template <class T>
[[nodiscard]] Maybe<T> shown(const std::optional<T>& value) {
  return {value.has_value(), value.value_or(T())};
}
[[nodiscard]] inline std::uint64_t shown(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace middlemark::kit::rust
