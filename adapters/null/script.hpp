// What the null adapter is told to do wrong, and when.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::null {

/// Parsed from the native settings. Lists name sequences of measured messages; they apply to what the role `at` publishes,
/// but `stall`, which applies to what the subscribers take.
struct Script {
  std::string at;                                           ///< whose publisher misbehaves: a role of the pattern
  std::optional<unsigned> only_publisher;                   ///< of several at that role, the one with this index
  std::optional<unsigned> only_subscriber;                  ///< what is delivered wrong is so to this one alone
  std::set<std::uint64_t> lose;                             ///< never delivered
  std::set<std::uint64_t> duplicate;                        ///< delivered twice
  std::set<std::uint64_t> reorder;                          ///< delivered after the message that follows it
  std::set<std::uint64_t> damage;                           ///< the last byte is changed
  std::set<std::uint64_t> shorten;                          ///< delivered without its last byte
  std::set<std::uint64_t> refuse;                           ///< publish() fails
  std::map<std::uint64_t, std::chrono::nanoseconds> delay;  ///< publish() sleeps first
  std::map<std::uint64_t, std::chrono::nanoseconds> stall;  ///< the subscriber sleeps before it hands the message over
  std::chrono::nanoseconds every_delay{0};                  ///< publish() spins this long for every message
  std::chrono::nanoseconds burn{0};                         ///< publish() takes this much processor for every message
  std::size_t hog_bytes = 0;                                ///< memory that the publisher keeps touched
  std::size_t hog_subscriber_bytes = 0;                     ///< memory that each subscriber keeps touched
  std::optional<std::uint64_t> slots;                       ///< messages that may wait for a subscriber
  std::set<std::uint64_t> crash;                            ///< abort() in publish()
  std::set<std::uint64_t> hang;                             ///< never returns from publish()
  std::set<std::string>
      fail;  ///< stages: open (refused), open-crash, open-hang, match (never), close-crash, close-hang

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {{"at", "whose publisher misbehaves: ping or pong (the default), publisher, client or server (the default)"},
            {"only_publisher", "index: of several publishers only this one misbehaves"},
            {"only_subscriber", "index: what is lost, duplicated, … is so for this subscriber alone"},
            {"lose", "sequences never delivered: 3,7"},
            {"duplicate", "sequences delivered twice"},
            {"reorder", "sequences delivered after their successor"},
            {"damage", "sequences whose last byte is changed"},
            {"shorten", "sequences delivered without their last byte"},
            {"refuse", "sequences whose publish fails"},
            {"delay", "sequence:microseconds, …: publish sleeps first"},
            {"stall", "sequence:milliseconds, …: the subscriber sleeps before it hands it over"},
            {"every_delay_us", "microseconds added to every publish"},
            {"every_delay_ns", "the same in ns"},
            {"burn_us", "microseconds of processor time that every publish takes"},
            {"hog_mib", "MiB of memory that the publisher keeps touched"},
            {"hog_subscriber_mib", "MiB of memory that each subscriber keeps touched"},
            {"slots", "messages that may wait for a subscriber (16, or the depth where that is more)"},
            {"crash", "sequences at which the process aborts"},
            {"hang", "sequences at which publish never returns"},
            {"fail", "stages that fail: open, open-crash, open-hang, match, close-crash, close-hang"}};
  }

  [[nodiscard]] static Script parse(const Settings& settings) {
    Script script;
    const std::vector<std::string> roles = roles_that_publish(settings.pattern);
    script.at = roles.back();
    for (const auto& [key, value] : settings.native) {
      if (key == "at") {
        if (std::ranges::find(roles, value) == roles.end()) throw wrong(key, value, listed(roles));
        script.at = value;
      } else if (key == "fail") {
        for (const std::string_view stage : split(value)) script.fail.emplace(stage);
      } else if (key == "only_publisher") {
        script.only_publisher = static_cast<unsigned>(number(key, value));
      } else if (key == "only_subscriber") {
        script.only_subscriber = static_cast<unsigned>(number(key, value));
      } else if (key == "every_delay_us") {
        script.every_delay = std::chrono::microseconds(number(key, value));
      } else if (key == "every_delay_ns") {
        script.every_delay = std::chrono::nanoseconds(number(key, value));
      } else if (key == "burn_us") {
        script.burn = std::chrono::microseconds(number(key, value));
      } else if (key == "hog_mib") {
        script.hog_bytes = mebibytes(key, value);
      } else if (key == "hog_subscriber_mib") {
        script.hog_subscriber_bytes = mebibytes(key, value);
      } else if (key == "slots") {
        script.slots = number(key, value);
        if (*script.slots == 0) throw wrong(key, value, "1 or more");
      } else if (key == "delay") {
        script.delay = times<std::chrono::microseconds>(key, value, "sequence:microseconds");
      } else if (key == "stall") {
        script.stall = times<std::chrono::milliseconds>(key, value, "sequence:milliseconds");
      } else {
        std::set<std::uint64_t>& list = script.list(key);
        for (const std::string_view item : split(value)) list.insert(number(key, item));
      }
    }
    return script;
  }

 private:
  /// The last one is whose publisher misbehaves when nothing else is said.
  static std::vector<std::string> roles_that_publish(Pattern pattern) {
    switch (pattern) {
      case Pattern::ping_pong:
        break;
      case Pattern::stream:
        return {"publisher"};
      case Pattern::request_reply:
        return {"client", "server"};
    }
    return {"ping", "pong"};
  }
  static std::string listed(const std::vector<std::string>& roles) {
    return roles.size() == 1 ? roles.front() : roles.front() + " or " + roles.back();
  }

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
  static std::size_t mebibytes(const std::string& key, std::string_view text) {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t value = number(key, text);
    if (value > most) throw wrong(key, text, "at most " + std::to_string(most));
    return value << 20;
  }
  template <class Unit>
  static std::map<std::uint64_t, std::chrono::nanoseconds> times(const std::string& key, std::string_view text,
                                                                 const std::string& right) {
    std::map<std::uint64_t, std::chrono::nanoseconds> found;
    for (const std::string_view item : split(text)) {
      const auto colon = item.find(':');
      if (colon == std::string_view::npos) throw wrong(key, item, right);
      found[number(key, item.substr(0, colon))] = Unit(number(key, item.substr(colon + 1)));
    }
    return found;
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
