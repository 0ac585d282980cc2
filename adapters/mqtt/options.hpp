// Native settings, and the options of libmosquitto and mosquitto that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

#include "user_file.hpp"

namespace middlemark::mqtt {

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::string config =
      key("config", std::string(), {.help = "your own mosquitto.conf: see --config", .type = NativeType::file});
  int max_inflight =  // the default of the broker and of libmosquitto
      key("max_inflight", 20,
          {.help = "unacknowledged messages of QoS 1 and 2, from a publisher and to each subscriber: "
                   "`max_inflight_messages`",
           .least = 1,
           .most = 65'535});
  std::optional<std::uint64_t> max_queued =
      key<std::uint64_t>("max_queued", {.help = "messages that the broker queues for each subscriber: "
                                                "`max_queued_messages`; 0: no limit except "
                                                "1 GiB for all subscribers' queues",
                                        .most = 1'000'000'000,
                                        .otherwise = "the depth, for each publisher"});
  bool nodelay =
      key("nodelay", true,
          {.help = "false: Nagle's algorithm at clients and broker, which both use by default", .transports = {"tcp"}});
  std::optional<int> qos = key<int>(
      "qos",
      {.help = "0 is best-effort, 1 and 2 are reliable", .least = 0, .most = 2, .otherwise = "by the reliability"});
};

struct Options : Native {
  bool is_default = false;  ///< the default configuration: broker and clients keep all their defaults
  /// The length of one subscriber's queue in the broker, in messages. If 0, only `bytes` limits the queue; in the
  /// default configuration, the broker's default limits it.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< the length of the same queue, in bytes
  std::vector<std::string> notes;

  [[nodiscard]] int quality(const Topic& topic) const {
    return qos.value_or(topic.reliability == Reliability::reliable ? 1 : 0);
  }

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("mqtt", settings)), is_default(settings.is_default_configuration()) {
    nodelay = nodelay && !is_default;
    for (const Topic& topic : settings.endpoints) {
      if ((quality(topic) > 0) == (topic.reliability == Reliability::reliable)) continue;
      throw AdapterError("mqtt: native.qos = " + std::to_string(*qos) + " contradicts the trial's reliability",
                         "0 is best-effort, 1 and 2 are reliable");
    }
    if (!config.empty()) {
      const std::string replaced = read_user_file(config).replaced;
      notes.push_back(
          "config: the broker only, not the clients; the trial sets its listener, log, persistence and depth" +
          (replaced.empty() ? "" : "; left out: " + replaced));
    }
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // in the broker, for all subscribers together
    constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20;
    std::uint64_t subscribers = 1;
    for (const Topic& topic : settings.endpoints) {
      messages = std::max(messages, topic.capacity().value_or(0));
      subscribers = std::max<std::uint64_t>(subscribers, topic.subscribers);
    }
    messages = max_queued.value_or(std::min<std::uint64_t>(messages, 1'000'000'000));
    bytes = std::max(least_bytes, most_bytes / subscribers);
    if (messages != 0) return;
    if (is_default) {
      notes.emplace_back(
          "keep-all: the broker queues up to its default limit for each subscriber, and drops messages beyond it");
      return;
    }
    notes.push_back("keep-all: the broker accepts every message, holds up to " + std::to_string(bytes >> 20) +
                    " MiB for each slow subscriber, and drops messages beyond that");
    // With QoS 0 the broker only limits the number of messages.
    if (settings.reliability == Reliability::best_effort)
      messages = std::max<std::uint64_t>(1000, bytes / (settings.message_bytes + 256));
  }
};

}  // namespace middlemark::mqtt
