// Reads and writes the messages of protocol.hpp and descriptions as JSON. Used by the control thread only.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <middlemark/schema.hpp>

namespace middlemark {

/// An invalid message; what() names every wrong field.
class ConfigurationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Value>
concept Word = std::is_enum_v<Value>;
template <class Value>
concept Listed = !std::same_as<std::remove_cvref_t<decltype(fields_of<Value>)>, std::nullptr_t>;

/// Reads values from JSON and collects the problems. Each problem names its place: "roles[0].samples: missing".
class JsonReader {
 public:
  using Json = nlohmann::json;

  void read(const Json& json, std::string& value, const std::string& place, const Range& range = {});
  void read(const Json& json, bool& value, const std::string& place, const Range& range = {});
  void read(const Json& json, double& value, const std::string& place, const Range& range = {});
  void read(const Json& json, std::chrono::nanoseconds& value, const std::string& place, const Range& range = {});

  /// Accepts a number only if it fits the field's type, because nlohmann's own conversion would wrap or truncate it.
  template <std::integral Number>
  void read(const Json& json, Number& value, const std::string& place, const Range& range = {}) {
    const bool fits = json.is_number_unsigned()  ? std::in_range<Number>(json.get<std::uint64_t>())
                      : json.is_number_integer() ? std::in_range<Number>(json.get<std::int64_t>())
                                                 : false;
    if (expect(fits, json, place) && within(range, json.get<double>(), place)) value = json.get<Number>();
  }

  template <Word Enumeration>
  void read(const Json& json, Enumeration& value, const std::string& place, const Range& /*range*/ = {}) {
    constexpr const auto& words = words_of<Enumeration>;
    const std::size_t found = choose(json, words, place);
    if (found < words.size()) value = static_cast<Enumeration>(found);
  }

  template <class Value>
  void read(const Json& json, std::optional<Value>& value, const std::string& place, const Range& range = {}) {
    value.reset();
    if (!json.is_null()) read(json, value.emplace(), place, range);
  }

  template <class Value>
  void read(const Json& json, std::vector<Value>& values, const std::string& place, const Range& range = {}) {
    if (!expect_list(json, range.least_items, place)) return;
    values.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      Value value{};
      read(json[i], value, place + "[" + std::to_string(i) + "]", range);
      values.push_back(std::move(value));
    }
  }

  template <class Value>
  void read(const Json& json, std::map<std::string, Value>& values, const std::string& place,
            const Range& /*range*/ = {}) {
    if (!expect_object(json, place)) return;
    values.clear();
    for (const auto& [key, value] : json.items()) read(value, values[key], inside(place, key));
  }

  template <Listed Struct>
  void read(const Json& json, Struct& value, const std::string& place, const Range& /*range*/ = {}) {
    if (!expect_object(json, place)) return;
    std::apply([&](const auto&... fields) { (read_field(json, value, fields, place), ...); }, fields_of<Struct>);
  }

  /// Reads the struct whose tag is in the JSON object.
  template <class First, class... Others>
  void read(const Json& json, std::variant<First, Others...>& value, const std::string& place,
            const Range& /*range*/ = {}) {
    if (!expect_object(json, place)) return;
    constexpr std::array tags{First::tag, Others::tag...};
    const auto found = json.find(First::tag_field);
    if (found == json.end()) return add_problem(inside(place, First::tag_field), "missing");
    const std::size_t chosen = choose(*found, tags, inside(place, First::tag_field));
    const auto read_as = [&]<class Struct>(std::type_identity<Struct>) {
      if (chosen < tags.size() && tags[chosen] == Struct::tag) read(json, value.template emplace<Struct>(), place);
    };
    read_as(std::type_identity<First>());
    (read_as(std::type_identity<Others>()), ...);
  }

  void add_problem(const std::string& place, const std::string& problem);
  /// Returns true if no problem was found at this place. Problems of its members do not count.
  [[nodiscard]] bool is_valid(const std::string& place) const;
  void throw_problems() const;

 private:
  template <class Struct, class Base, class Value>
  void read_field(const Json& json, Struct& into, const Field<Base, Value>& field, const std::string& place) {
    const auto found = json.find(field.name);
    if (found != json.end()) {
      read(*found, into.*field.member, inside(place, field.name), field.range);
    } else if (field.presence == Presence::required) {
      add_problem(inside(place, field.name), "missing");
    }
  }

  static std::string inside(const std::string& place, std::string_view name);
  bool expect(bool fits, const Json& json, const std::string& place);
  bool expect_object(const Json& json, const std::string& place);
  bool expect_list(const Json& json, std::size_t least_items, const std::string& place);
  bool within(const Range& range, double value, const std::string& place);
  /// Returns the index in `words` of the word that `json` contains, or words.size() if it contains none of the words.
  std::size_t choose(const Json& json, std::span<const std::string_view> words, const std::string& place);

  std::vector<std::pair<std::string, std::string>> problems_;  // (place, problem)
};

/// Parses a message. Throws ConfigurationError naming all problems.
template <class Message>
[[nodiscard]] Message read_message(const nlohmann::json& json) {
  Message message;
  JsonReader reader;
  reader.read(json, message, {});
  reader.throw_problems();
  return message;
}

/// Converts any value of a message to JSON; an absent value is null.
template <class Value>
[[nodiscard]] nlohmann::json json_of(const Value& value) {
  using Json = nlohmann::json;
  if constexpr (Word<Value>) {
    return word(value);
  } else if constexpr (Listed<Value>) {
    Json object = Json::object();
    if constexpr (requires { Value::tag; }) object[std::string(Value::tag_field)] = Value::tag;
    const auto write = [&]<class Member>(const Member& member) {
      if constexpr (std::same_as<Member, Constant>) {
        object[std::string(member.name)] = member.value;
      } else {
        object[std::string(member.name)] = json_of(value.*member.member);
      }
    };
    std::apply([&](const auto&... members) { (write(members), ...); }, fields_of<Value>);
    return object;
  } else if constexpr (std::same_as<Value, std::chrono::nanoseconds>) {
    return std::chrono::duration<double>(value).count();
  } else if constexpr (requires { value.has_value(); }) {
    return value ? json_of(*value) : Json();
  } else if constexpr (requires { requires Listed<typename Value::mapped_type>; }) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[key] = json_of(item);
    return object;
  } else if constexpr (requires { requires Listed<typename Value::value_type> || Word<typename Value::value_type>; }) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(json_of(item));
    return list;
  } else {
    return value;
  }
}

}  // namespace middlemark
