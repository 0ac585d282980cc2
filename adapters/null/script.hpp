// What the null adapter is told to do wrong, and when.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::null {

/// Parsed from the native settings. Lists name sequences of measured messages; they apply to what the role `at` publishes.
struct Script {
  std::string at = "pong";                                  ///< ping or pong: whose publisher misbehaves
  std::set<std::uint64_t> lose;                             ///< never delivered
  std::set<std::uint64_t> duplicate;                        ///< delivered twice
  std::set<std::uint64_t> reorder;                          ///< delivered after the message that follows it
  std::set<std::uint64_t> damage;                           ///< the last byte is changed
  std::set<std::uint64_t> shorten;                          ///< delivered without its last byte
  std::set<std::uint64_t> refuse;                           ///< publish() fails
  std::map<std::uint64_t, std::chrono::nanoseconds> delay;  ///< publish() sleeps first
  std::chrono::nanoseconds every_delay{0};                  ///< publish() spins this long for every message
  std::set<std::uint64_t> crash;                            ///< abort() in publish()
  std::set<std::uint64_t> hang;                             ///< never returns from publish()
  std::set<std::string>
      fail;  ///< stages: open (refused), open-crash, open-hang, match (never), close-crash, close-hang

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {{"at", "ping or pong: whose publisher misbehaves (pong)"},
            {"lose", "sequences never delivered: 3,7"},
            {"duplicate", "sequences delivered twice"},
            {"reorder", "sequences delivered after their successor"},
            {"damage", "sequences whose last byte is changed"},
            {"shorten", "sequences delivered without their last byte"},
            {"refuse", "sequences whose publish fails"},
            {"delay", "sequence:microseconds, …"},
            {"every_delay_us", "microseconds added to every publish"},
            {"crash", "sequences at which the process aborts"},
            {"hang", "sequences at which publish never returns"},
            {"fail", "stages that fail: open, open-crash, open-hang, match, close-crash, close-hang"}};
  }

  [[nodiscard]] static Script parse(const std::map<std::string, std::string>& native) {
    Script script;
    for (const auto& [key, value] : native) {
      if (key == "at") {
        if (value != "ping" && value != "pong") throw wrong(key, value, "ping or pong");
        script.at = value;
      } else if (key == "fail") {
        for (const std::string_view stage : split(value)) script.fail.emplace(stage);
      } else if (key == "every_delay_us") {
        script.every_delay = std::chrono::microseconds(number(key, value));
      } else if (key == "delay") {
        for (const std::string_view item : split(value)) {
          const auto colon = item.find(':');
          if (colon == std::string_view::npos) throw wrong(key, item, "sequence:microseconds");
          script.delay[number(key, item.substr(0, colon))] =
              std::chrono::microseconds(number(key, item.substr(colon + 1)));
        }
      } else {
        std::set<std::uint64_t>& list = script.list(key);
        for (const std::string_view item : split(value)) list.insert(number(key, item));
      }
    }
    return script;
  }

 private:
  std::set<std::uint64_t>& list(const std::string& key) {
    if (key == "lose") return lose;
    if (key == "duplicate") return duplicate;
    if (key == "reorder") return reorder;
    if (key == "damage") return damage;
    if (key == "shorten") return shorten;
    if (key == "refuse") return refuse;
    if (key == "crash") return crash;
    if (key == "hang") return hang;
    throw AdapterError("null: native." + key + " is not a setting of this adapter");
  }
  static AdapterError wrong(const std::string& key, std::string_view value, const std::string& right) {
    return AdapterError("null: native." + key + " = \"" + std::string(value) + "\": it is " + right);
  }
  static std::uint64_t number(const std::string& key, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) throw wrong(key, text, "a list of whole numbers");
    return value;
  }
  static std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> items;
    while (!text.empty()) {
      const auto comma = text.find(',');
      items.push_back(text.substr(0, comma));
      text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return items;
  }
};

}  // namespace middlemark::null
