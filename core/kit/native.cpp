#include <middlemark/kit/native.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace middlemark::kit {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t worth;
};

/// All units are powers of 1024. This includes kB and MB, because middlewares use these names for KiB and MiB.
constexpr std::array<Unit, 13> byte_units{{{"", 1},
                                           {"B", 1},
                                           {"k", 1LL << 10},
                                           {"K", 1LL << 10},
                                           {"kB", 1LL << 10},
                                           {"KiB", 1LL << 10},
                                           {"M", 1LL << 20},
                                           {"MB", 1LL << 20},
                                           {"MiB", 1LL << 20},
                                           {"m", 1LL << 20},
                                           {"G", 1LL << 30},
                                           {"GB", 1LL << 30},
                                           {"GiB", 1LL << 30}}};
constexpr std::array<Unit, 4> time_units{{{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

template <class Number>
struct Read {
  Number number{};
  std::string_view rest;
};

template <class Number>
std::optional<Read<Number>> read_number(std::string_view text) {
  Read<Number> read;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.number);
  if (error != std::errc{}) return std::nullopt;
  read.rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return read;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto read = read_number<std::int64_t>(text);
  return read && read->rest.empty() ? std::optional(read->number) : std::nullopt;
}

template <std::size_t count>
std::optional<std::int64_t> with_unit(std::string_view text, const std::array<Unit, count>& units) {
  const auto read = read_number<double>(text);
  if (!read || !std::isfinite(read->number)) return std::nullopt;
  std::string_view unit = read->rest;
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) return std::nullopt;
  const double worth = read->number * static_cast<double>(found->worth);
  if (std::abs(worth) >= 9e18 || (found->worth == 1 && worth != std::floor(worth))) return std::nullopt;
  return static_cast<std::int64_t>(worth);
}

std::optional<std::int64_t> place_of(std::string_view word, const std::vector<std::string>& words) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional<std::int64_t>(found - words.begin());
}

bool is_number(NativeType type) {
  return type == NativeType::integer || type == NativeType::bytes || type == NativeType::duration;
}

bool allows(const NativeSetting& setting, const std::string& text) {
  if (setting.type == NativeType::text || setting.type == NativeType::file) return true;
  if (is_number(setting.type) && place_of(text, setting.choices)) return true;
  const auto number = native_number(setting, text);
  return number && (!setting.least || *number >= *setting.least) && (!setting.most || *number <= *setting.most);
}

}  // namespace

std::optional<std::int64_t> native_number(const NativeSetting& setting, std::string_view text) {
  switch (setting.type) {
    case NativeType::boolean:
      if (text == "true" || text == "1" || text == "on") return 1;
      if (text == "false" || text == "0" || text == "off") return 0;
      return std::nullopt;
    case NativeType::integer:
      return whole_number(text);
    case NativeType::bytes:
      return with_unit(text, byte_units);
    case NativeType::duration:
      return with_unit(text, time_units);
    case NativeType::choice:
      return place_of(text, setting.choices);
    case NativeType::text:
    case NativeType::file:
      break;
  }
  return std::nullopt;
}

std::string native_text(const NativeSetting& setting, std::int64_t number) {
  switch (setting.type) {
    case NativeType::boolean:
      return number != 0 ? "true" : "false";
    case NativeType::choice:
      return std::cmp_less(number, setting.choices.size()) && number >= 0
                 ? setting.choices[static_cast<std::size_t>(number)]
                 : std::to_string(number);
    case NativeType::bytes:
      for (const auto& [unit, worth] : {Unit{"GiB", 1LL << 30}, Unit{"MiB", 1LL << 20}, Unit{"KiB", 1LL << 10}}) {
        if (number >= worth && number % worth == 0) return fmt::format("{}{}", number / worth, unit);
      }
      return std::to_string(number);
    case NativeType::duration:
      for (const auto& [unit, worth] : {Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"us", 1'000}}) {
        if (number >= worth && number % worth == 0) return fmt::format("{}{}", number / worth, unit);
      }
      return fmt::format("{}ns", number);
    default:
      return std::to_string(number);
  }
}

std::string native_domain(const NativeSetting& setting) {
  std::string text;
  switch (setting.type) {
    case NativeType::boolean:
      return "true or false";
    case NativeType::text:
      return "a text";
    case NativeType::file:
      return "the path of a file";
    case NativeType::choice:
      return fmt::format("one of {}", fmt::join(setting.choices, ", "));
    case NativeType::integer:
      text = "a whole number";
      break;
    case NativeType::bytes:
      text = "a number of bytes (65536, 64KiB)";
      break;
    case NativeType::duration:
      text = "a duration (500us, 1.5ms)";
      break;
  }
  if (setting.least) text += " from " + native_text(setting, *setting.least);
  if (setting.most) text += (setting.least ? " to " : " of at most ") + native_text(setting, *setting.most);
  if (!setting.choices.empty()) text += fmt::format(", or {}", fmt::join(setting.choices, ", "));
  return text;
}

const NativeSetting* find_native(const NativeTable& table, const std::string& key) {
  if (const auto own = table.find(key); own != table.end() && !key.ends_with('*')) return &own->second;
  const NativeTable::value_type* best = nullptr;
  for (const auto& each : table) {
    const std::string_view name = each.first;
    const bool begins =
        name.ends_with('*') && key.size() >= name.size() && key.starts_with(name.substr(0, name.size() - 1));
    if (begins && (best == nullptr || name.size() > best->first.size())) best = &each;
  }
  return best == nullptr ? nullptr : &best->second;
}

std::vector<std::string> native_problems(const NativeTable& table, const Settings& settings) {
  std::vector<std::string> problems;
  for (const auto& [key, value] : settings.native) {
    const NativeSetting* const setting = find_native(table, key);
    if (setting == nullptr) {
      std::vector<std::string> known;
      for (const auto& [name, known_setting] : table) known.push_back(name);
      problems.push_back(fmt::format("native.{} is not a setting of this adapter ({})", key,
                                     known.empty() ? "it has none" : fmt::format("it has {}", fmt::join(known, ", "))));
      continue;
    }
    if (!setting->transports.empty() && !place_of(settings.transport, setting->transports)) {
      problems.push_back(fmt::format("native.{} has no effect on the transport {} (only on {})", key,
                                     settings.transport, fmt::join(setting->transports, ", ")));
    }
    if (!setting->patterns.empty() &&
        std::ranges::find(setting->patterns, settings.pattern) == setting->patterns.end()) {
      std::vector<std::string_view> patterns;
      for (const Pattern each : setting->patterns) patterns.push_back(word(each));
      problems.push_back(fmt::format("native.{} has no effect on {} (only on {})", key, word(settings.pattern),
                                     fmt::join(patterns, ", ")));
    }
    if (!allows(*setting, value)) {
      problems.push_back(fmt::format("native.{} = '{}' is not {}", key, value, native_domain(*setting)));
    }
  }
  return problems;
}

void NativeKeys::refuse_problems(const std::string& adapter, const Settings& settings) const {
  const std::string problems = fmt::format("{}", fmt::join(native_problems(table_, settings), "; "));
  if (!problems.empty()) throw AdapterError(adapter + ": " + problems);
  if (!complaints_.empty()) throw AdapterError(adapter + ": " + complaints_);
}

std::map<std::string, std::string> NativeKeys::keys(const std::string& name, const NativeSetting& row) {
  declare<std::string>(name, row);
  std::map<std::string, std::string> values;
  if (trial_ == nullptr) return values;
  for (const auto& [key, value] : trial_->native) {
    const NativeSetting* const setting = find_native(table_, key);
    if (setting == &table_.at(name)) values[key.substr(name.size() - 1)] = value;
  }
  return values;
}

void NativeKeys::complain(const std::string& name, const std::string& wanted) {
  const std::string* const value = given(name);
  if (value == nullptr) return;
  complaints_ += fmt::format("{}native.{} = '{}' is not {}", complaints_.empty() ? "" : "; ", name, *value, wanted);
}

const std::string* NativeKeys::given(const std::string& name) const {
  if (trial_ == nullptr) return nullptr;
  const auto found = trial_->native.find(name);
  return found == trial_->native.end() ? nullptr : &found->second;
}

}  // namespace middlemark::kit
