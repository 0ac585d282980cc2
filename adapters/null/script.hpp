// Reads the script: the faults of the null adapter, and the messages at which they happen.
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

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::null {

using Sequences = std::set<std::uint64_t>;
using Pauses = std::map<std::uint64_t, std::chrono::nanoseconds>;

/// The script's faults. Lists contain sequence numbers of measured messages. They apply to messages that the role `at`
/// publishes; only `stall` applies to messages that the subscribers take.
struct Script : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::string at = key<std::string>(
      "at", "",
      {.help =
           "the role whose publisher misbehaves: `ping` or `pong` of a ping-pong, `publisher` of a stream, `client` or "
           "`server` of request and reply",
       .otherwise = "the last role of the pattern"});
  std::optional<unsigned> only_publisher =
      key<unsigned>("only_publisher", {.help = "only the publisher with this index at that role", .least = 0});
  std::optional<unsigned> only_subscriber =
      key<unsigned>("only_subscriber", {.help = "only the subscriber (pong, client) with this index receives wrong "
                                                "messages, stalls and hogs",
                                        .least = 0});
  Sequences lose = sequences("lose", "sequences never delivered: `3,7`");
  Sequences duplicate = sequences("duplicate", "sequences delivered twice");
  Sequences reorder =
      sequences("reorder", "sequences delivered after their successor; the last message has no successor and is lost");
  Sequences damage = sequences("damage", "sequences whose last byte is changed");
  Sequences shorten = sequences("shorten", "sequences delivered without their last byte");
  Sequences refuse = sequences("refuse", "sequences whose publish fails");
  Pauses delay = pauses<std::chrono::microseconds>("delay", "sequence:microseconds", "publish sleeps first");
  Pauses stall = pauses<std::chrono::milliseconds>("stall", "sequence:milliseconds",
                                                   "the subscriber sleeps before it visits the message");
  std::chrono::microseconds every_delay_us =
      key("every_delay_us", std::chrono::microseconds(0),
          {.help = "a known difference for comparisons: microseconds that every publish spins", .least = 0});
  std::uint64_t every_delay_ns =
      key<std::uint64_t>("every_delay_ns", 0, {.help = "like `every_delay_us`, in ns; the two add up", .least = 0});
  std::chrono::microseconds burn =
      key("burn_us", std::chrono::microseconds(0),
          {.help = "microseconds of the thread's processor time that every publish spends", .least = 0});
  std::size_t hog_mib = key<std::size_t>(
      "hog_mib", 0,
      {.help = "MiB of memory that the misbehaving publisher keeps touched from its opening to its end", .most = 4096});
  std::size_t hog_subscriber_mib = key<std::size_t>(
      "hog_subscriber_mib", 0, {.help = "MiB of memory that each subscriber keeps touched", .most = 4096});
  std::uint64_t leak_bytes = key<std::uint64_t>(
      "leak_bytes", 0, {.help = "bytes of memory that each publish touches and never frees", .most = 1048576});
  std::uint64_t drift_ns =
      key<std::uint64_t>("drift_ns", 0, {.help = "publish n is busy for n times this number of ns", .most = 1000000});
  std::uint64_t stall_every =
      key<std::uint64_t>("stall_every", 0,
                         {.help = "the subscriber sleeps before every message whose sequence is a multiple of this "
                                  "number; 0: it never sleeps",
                          .least = 0});
  std::chrono::milliseconds stall_every_ms =
      key("stall_every_ms", std::chrono::milliseconds(5), {.help = "how long `stall_every` sleeps", .least = 0});
  std::optional<std::uint64_t> slots = key<std::uint64_t>(
      "slots",
      {.help = "messages that may wait for a subscriber", .least = 1, .otherwise = "16, or the depth if larger"});
  Sequences crash = sequences("crash", "sequences at which the process aborts");
  Sequences hang = sequences("hang", "sequences at which publish never returns");
  std::set<std::string> fail = stages();

  /// Returns how long publish() spins for every message.
  [[nodiscard]] std::chrono::nanoseconds every_delay() const {
    return every_delay_us + std::chrono::nanoseconds(every_delay_ns);
  }

  [[nodiscard]] static Script parse(const Settings& settings) {
    Script script = kit::read_native<Script>("null", settings);
    const std::vector<std::string> roles = roles_that_publish(settings.pattern);
    if (script.at.empty()) script.at = roles.back();
    if (std::ranges::find(roles, script.at) != roles.end()) return script;
    throw AdapterError("null: native.at = '" + script.at + "' is not " +
                       (roles.size() == 1 ? roles.front() : roles.front() + " or " + roles.back()));
  }

 private:
  /// Returns the roles that publish. By default the faults apply to the last one.
  static std::vector<std::string> roles_that_publish(Pattern pattern) {
    switch (pattern) {
      case Pattern::ping_pong:
        break;
      case Pattern::stream:
        return {"publisher"};
      case Pattern::request_reply:
        return {"client", "server"};
      case Pattern::crowd:
        return {"participant"};
    }
    return {"ping", "pong"};
  }

  static std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> items;
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      items.push_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return items;
  }
  static std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  }

  Sequences sequences(const std::string& name, const std::string& help) {
    Sequences list;
    const auto text = key<std::string>(name, {.help = help});
    for (const std::string_view item : split(text ? *text : std::string_view())) {
      const auto sequence = number(item);
      if (!sequence) return complain(name, "a list of whole numbers"), list;
      list.insert(*sequence);
    }
    return list;
  }
  template <class Unit>
  Pauses pauses(const std::string& name, const std::string& form, const std::string& help) {
    Pauses list;
    const auto text = key<std::string>(name, {.help = "`" + form + "`, …: " + help});
    for (const std::string_view item : split(text ? *text : std::string_view())) {
      const auto colon = std::min(item.find(':'), item.size());
      const auto sequence = number(item.substr(0, colon));
      const auto pause = number(item.substr(std::min(colon + 1, item.size())));
      if (!sequence || !pause) return complain(name, form), list;
      list[*sequence] = Unit(*pause);
    }
    return list;
  }
  std::set<std::string> stages() {
    static const std::set<std::string_view> known{"open",  "open-crash",  "open-hang",
                                                  "match", "close-crash", "close-hang"};
    std::set<std::string> stages;
    const auto text = key<std::string>(
        "fail", {.help = "stages that fail: `open` (refused), `open-crash`, `open-hang`, `match` (never), "
                         "`close-crash`, `close-hang`"});
    for (const std::string_view stage : split(text ? *text : std::string_view())) {
      if (!known.contains(stage)) return complain("fail", "a list of stages"), stages;
      stages.emplace(stage);
    }
    return stages;
  }
};

}  // namespace middlemark::null
