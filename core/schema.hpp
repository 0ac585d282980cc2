// Types for lists of the fields of structs, the ranges of the fields, and the words of enumerations. protocol.hpp and
// description.hpp contain such lists, and json.hpp reads and writes JSON by them.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <tuple>

namespace middlemark {

/// The words of an enumeration, in the order of its enumerators.
template <class Enumeration>
inline constexpr std::array<std::string_view, 0> words_of{};

template <class Enumeration>
[[nodiscard]] constexpr std::string_view word(Enumeration value) noexcept {
  return words_of<Enumeration>[static_cast<std::size_t>(value)];
}

enum class Presence { required, optional };

/// Bounds of a number, or of each number in a list, and the minimum length of a list.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double above = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::size_t least_items = 0;
};

template <class Struct, class Value>
struct Field {
  constexpr Field(std::string_view its_name, Value Struct::* its_member, Presence its_presence, Range its_range = {})
      : name(its_name), member(its_member), presence(its_presence), range(its_range) {}

  std::string_view name;
  Value Struct::* member;
  Presence presence;
  Range range;
};

/// A member of Transport (`has`) and the member of a request that it limits (`asked`). The member of Transport lists the
/// supported levels or is the highest one.
template <class Transport, class Has, class Request, class Asked>
struct Capability {
  constexpr Capability(std::string_view its_factor, Has Transport::* its_has, Asked Request::* its_asked)
      : factor(its_factor), has(its_has), asked(its_asked) {}

  std::string_view factor;
  Has Transport::* has;
  Asked Request::* asked;
};

/// A field with a constant value.
struct Constant {
  std::string_view name;
  std::string_view value;
};

/// A tuple with a Field or Constant for each JSON field except the tag.
template <class Struct>
inline constexpr std::nullptr_t fields_of = nullptr;

}  // namespace middlemark
