// The native settings of a middleware, declared once. The declaration determines which settings an adapter accepts,
// which values the core refuses, the texts of `--describe` and of the documents, and the typed values that the adapter
// reads.
//
//   struct Options : kit::NativeKeys {
//     using NativeKeys::NativeKeys;
//     int io_threads = key("io_threads", 1, {.help = "threads that move data", .least = 1, .most = 64, .transports = {"tcp"}});
//     Rpc rpc = key("rpc", Rpc::dealer_router, {.help = "sockets of a call", .choices = {"dealer-router", "req-rep"}});
//     std::optional<int> send_buffer = key<int>("sndbuf", {.help = "ZMQ_SNDBUF in bytes", .otherwise = "the kernel's own"});
//   };
//
// Then `description.native = kit::native_table<Options>();` and `kit::read_native<Options>("zeromq", settings)`. No
// function here opens the middleware, because the launcher also needs the settings when it plans an experiment.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::kit {

/// Native settings by key; a key that ends in '*' covers every key with that beginning.
using NativeTable = std::map<std::string, NativeSetting>;

/// Describes each native setting of the trial that `table` does not allow: unknown, of the wrong type, out of range, or
/// without effect on the trial's transport or pattern. Each text contains the key, the value and the allowed values.
[[nodiscard]] std::vector<std::string> native_problems(const NativeTable& table, const Settings& settings);

/// Returns the setting for a key: the setting with this name, otherwise the setting that ends in '*' and has the longest
/// matching beginning, otherwise null.
[[nodiscard]] const NativeSetting* find_native(const NativeTable& table, const std::string& key);

/// Converts a text to a number: 0 or 1 for a boolean, the index of a choice, bytes, or ns for a duration. Returns
/// nullopt for any other text, including the words that the setting allows instead of a number.
[[nodiscard]] std::optional<std::int64_t> native_number(const NativeSetting& setting, std::string_view text);

/// Describes the allowed values: "a whole number from 1 to 64", "true or false", "one of fifo, ring".
[[nodiscard]] std::string native_domain(const NativeSetting& setting);

/// Converts a number to a text of the setting's type: "true", "65536", "1ms".
[[nodiscard]] std::string native_text(const NativeSetting& setting, std::int64_t number);

namespace detail {

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

template <class T>
[[nodiscard]] constexpr NativeType type_of(bool has_choices) {
  if constexpr (std::is_same_v<T, std::string>) return has_choices ? NativeType::choice : NativeType::text;
  if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) return NativeType::duration;
  if constexpr (std::is_enum_v<T>) return NativeType::choice;
  if (has_choices) return NativeType::choice;
  return std::is_same_v<T, bool> ? NativeType::boolean : NativeType::integer;
}

template <class T>
[[nodiscard]] T value_of(const NativeSetting& setting, const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (is_duration<T>) {
    return T(native_number(setting, text).value_or(0));
  } else {
    return static_cast<T>(native_number(setting, text).value_or(0));
  }
}

template <class T>
[[nodiscard]] std::string text_of(const NativeSetting& setting, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (is_duration<T>) {
    return native_text(setting, value.count());
  } else {
    return native_text(setting, static_cast<std::int64_t>(value));
  }
}

}  // namespace detail

/// Base of a struct whose members are an adapter's native settings, each declared in its initialiser.
class NativeKeys {
 public:
  /// The trial's values replace the defaults; if `trial` is null, all members have their defaults.
  explicit NativeKeys(const Settings* trial = nullptr) : trial_(trial) {}

  [[nodiscard]] const NativeTable& table() const noexcept { return table_; }

  /// Throws an AdapterError with every wrong setting of the trial.
  void refuse_problems(const std::string& adapter, const Settings& settings) const;
  /// Frees the table, which contains all help texts. A crowd has many adapters, and each has its options.
  void forget_table() noexcept { table_.clear(); }

 protected:
  /// Declares a setting and returns its value. T: bool, an integer, an enum (a choice), nanoseconds ("1.5ms"), another
  /// duration (a whole number of its unit), or a string.
  template <class T>
  [[nodiscard]] T key(const std::string& name, T otherwise, const NativeSetting& row) {
    NativeSetting& setting = declare<T>(name, row);
    if (setting.otherwise.empty()) setting.otherwise = detail::text_of(setting, otherwise);
    const std::string* const text = given(name);
    return text == nullptr ? otherwise : detail::value_of<T>(setting, *text);
  }
  /// Declares a setting without a default. Returns nullopt if the trial does not set it: the adapter then uses the
  /// middleware's default or a value that depends on the trial.
  template <class T>
  [[nodiscard]] std::optional<T> key(const std::string& name, const NativeSetting& row) {
    const NativeSetting& setting = declare<T>(name, row);
    const std::string* const text = given(name);
    return text == nullptr ? std::nullopt : std::optional<T>(detail::value_of<T>(setting, *text));
  }
  /// Declares a name that ends in '*'. Returns the trial's values by the part of the key that replaces the star.
  [[nodiscard]] std::map<std::string, std::string> keys(const std::string& name, const NativeSetting& row);

  [[nodiscard]] static NativeSetting saying(std::string help, NativeSetting row) {
    row.help = std::move(help);
    return row;
  }

  /// Adds a problem: the value of setting `name` is not `wanted`. `wanted`: such as "a list". For settings that the
  /// adapter parses itself.
  void complain(const std::string& name, const std::string& wanted);

 private:
  template <class T>
  NativeSetting& declare(const std::string& name, const NativeSetting& row) {
    NativeSetting& setting = table_[name] = row;
    if (setting.type == NativeType::text) setting.type = detail::type_of<T>(!row.choices.empty());
    if constexpr (std::is_integral_v<T>) {  // allow only numbers that fit into the member's type
      using Range = std::numeric_limits<T>;
      if (setting.type != NativeType::integer && setting.type != NativeType::bytes) return setting;
      if (!setting.least) setting.least = static_cast<std::int64_t>(Range::min());
      if (!setting.most && sizeof(T) < sizeof(std::int64_t)) setting.most = static_cast<std::int64_t>(Range::max());
    }
    return setting;
  }
  [[nodiscard]] const std::string* given(const std::string& name) const;

  const Settings* trial_;  // used only while the members are initialised
  NativeTable table_;
  std::string complaints_;
};

template <class Options>
[[nodiscard]] NativeTable native_table() {
  return Options().table();
}

/// Returns the options with the trial's values in place of defaults. Throws an AdapterError with every wrong setting.
template <class Options>
[[nodiscard]] Options read_native(const std::string& adapter, const Settings& settings) {
  Options options(&settings);
  options.refuse_problems(adapter, settings);
  options.forget_table();
  return options;
}

}  // namespace middlemark::kit
