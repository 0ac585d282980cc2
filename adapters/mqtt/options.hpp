// What the settings of a trial, and the native ones, become in MQTT and in the broker's configuration.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::mqtt {

struct Options {
  int qos = 1;
  bool nodelay = true;
  int max_inflight = 20;         ///< the broker's own default, and libmosquitto's
  std::uint64_t max_queued = 0;  ///< messages in the broker for one subscriber; 0: as many as fit max_queued_bytes
  std::uint64_t max_queued_bytes = 0;  ///< the same in bytes, whatever the count
  std::vector<std::string> notes;

  explicit Options(const Settings& settings)
      : qos(settings.reliability == Reliability::reliable ? 1 : 0),
        max_queued(queued(settings)),
        max_queued_bytes(std::max(least_bytes, most_bytes / std::max(settings.subscribers, settings.publishers))) {
    for (const auto& [key, value] : settings.native) read(settings, key, value);
    if (max_queued == 0) {
      notes.push_back("keep-all: the broker takes whatever comes, holds up to " +
                      std::to_string(max_queued_bytes >> 20) +
                      " MiB for each subscriber that is slower, and drops what comes then");
      // Of QoS 0 the broker counts messages only.
      if (qos == 0) max_queued = std::max<std::uint64_t>(1000, max_queued_bytes / (settings.message_bytes + 256));
    }
  }

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {
        {"max_inflight",
         "messages of QoS 1 and 2 on their way without an answer, from a publisher and to each "
         "subscriber: max_inflight_messages (20)"},
        {"max_queued",
         "messages that the broker queues for each subscriber: max_queued_messages; 0: no bound but "
         "1 GiB for all (the depth, for each publisher)"},
        {"nodelay", "false: Nagle's algorithm at clients and broker, as both have it by default; tcp only (true)"},
        {"qos", "0 (best-effort), 1 or 2 (both reliable)"},
    };
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // in the broker, of all subscribers together
  static constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20;

  /// The history of a subscriber lies in the broker, one for all of its publishers.
  [[nodiscard]] static std::uint64_t queued(const Settings& settings) {
    if (!settings.depth) return 0;
    const std::uint64_t writers = std::max(settings.publishers, settings.subscribers);
    return std::min<std::uint64_t>(*settings.depth * writers, 1'000'000'000);
  }

  void read(const Settings& settings, const std::string& key, const std::string& value) {
    if (key == "qos") {
      qos = static_cast<int>(number(key, value, 0, 2));
      if ((qos == 0) != (settings.reliability == Reliability::best_effort)) {
        throw AdapterError("mqtt: native.qos = '" + value + "' is not what the trial's reliability asks for",
                           "0 is best-effort, 1 and 2 are reliable");
      }
    } else if (key == "max_inflight") {
      max_inflight = static_cast<int>(number(key, value, 1, 65'535));
    } else if (key == "max_queued") {
      max_queued = number(key, value, 0, 1'000'000'000);
    } else if (key == "nodelay") {
      if (settings.transport != "tcp") {
        throw AdapterError("mqtt: native.nodelay has no effect on the transport " + settings.transport,
                           "leave it out there, or choose tcp");
      }
      if (value != "true" && value != "false") {
        throw AdapterError("mqtt: native.nodelay = '" + value + "' is neither true nor false");
      }
      nodelay = value == "true";
    } else {
      std::string accepted;
      for (const auto& [known, meaning] : keys()) accepted += (accepted.empty() ? "" : ", ") + known;
      throw AdapterError("mqtt: native." + key + " is not a setting", "one of " + accepted);
    }
  }

  [[nodiscard]] static std::uint64_t number(const std::string& key, const std::string& value, std::uint64_t least,
                                            std::uint64_t most) {
    std::uint64_t found = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, found);
    if (error != std::errc{} || end != last || found < least || found > most) {
      throw AdapterError("mqtt: native." + key + " = '" + value + "' is not a whole number from " +
                         std::to_string(least) + " to " + std::to_string(most));
    }
    return found;
  }
};

}  // namespace middlemark::mqtt
