// The topics of each pattern, as both ends name them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark {

/// As Settings::endpoints has it, which knows what of it is in this process; where there is no such list yet, as it was made.
[[nodiscard]] inline Topic as_listed(const Settings& settings, const Topic& made) {
  for (const Topic& each : settings.endpoints) {
    if (each.name == made.name) return each;
  }
  return made;
}

/// Ping → every pong.
[[nodiscard]] inline Topic ping_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_ping", settings.message_bytes, 1, settings.subscribers, settings.depth,
                              settings.reliability, settings.type});
}

/// Each of the `echoing` pongs → ping.
[[nodiscard]] inline Topic pong_topic(const Settings& settings, unsigned echoing) {
  return as_listed(settings, {settings.scope + "_pong", settings.message_bytes, echoing, 1, settings.depth,
                              settings.reliability, settings.type});
}

/// Every client → the server.
[[nodiscard]] inline Topic request_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_request", settings.message_bytes, settings.publishers, 1,
                              settings.depth, settings.reliability, settings.type});
}

/// The server → one client. On a topic that all clients share, replies would push each other out of a shallow history, and a
/// client that has ended would hold up the others'.
[[nodiscard]] inline Topic reply_topic(const Settings& settings, unsigned client) {
  return as_listed(settings, {settings.scope + "_reply" + std::to_string(client), settings.message_bytes, 1, 1,
                              settings.depth, settings.reliability, settings.type});
}

/// Both ways, where the middleware has request and reply of its own.
[[nodiscard]] inline Topic service_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_service", settings.message_bytes, settings.publishers, 1,
                              settings.depth, settings.reliability, settings.type, true});
}

/// One topic of a stream.
[[nodiscard]] inline Topic stream_topic(const Settings& settings, unsigned topic) {
  const TopicRequest& asked = settings.topics[topic];
  Topic made{settings.scope + "_stream" + std::to_string(topic),
             asked.message_bytes,
             static_cast<unsigned>(asked.publishers.size()),
             static_cast<unsigned>(asked.subscribers.size()),
             asked.depth,
             asked.reliability,
             asked.type};
  made.varies = !asked.sizes_path.empty();
  made.history = asked.history;
  made.subscriber_processes = asked.subscriber_processes;
  return as_listed(settings, made);
}

/// The topic of the replies, where that one has the requests of a service of the middleware's own.
[[nodiscard]] inline std::optional<unsigned> replies_of(const Settings& settings, unsigned requests) {
  const auto replies = std::ranges::find(settings.topics, std::optional(requests), &TopicRequest::replies_to);
  if (replies == settings.topics.end()) return std::nullopt;
  return static_cast<unsigned>(replies - settings.topics.begin());
}

/// Both ways of such a service of a graph, by the number of its requests' topic.
[[nodiscard]] inline Topic graph_service(const Settings& settings, unsigned requests) {
  const TopicRequest& asked = settings.topics[requests];
  const std::size_t reply_bytes = settings.topics[*replies_of(settings, requests)].message_bytes;
  Topic made{settings.scope + "_service" + std::to_string(requests),
             std::max(asked.message_bytes, reply_bytes),
             1,
             1,
             asked.depth,
             asked.reliability,
             asked.type,
             true};
  made.varies = asked.message_bytes != reply_bytes;
  return as_listed(settings, made);
}

/// The place of a role among its like on their topic, by its index among all of the trial.
[[nodiscard]] inline unsigned place_of(unsigned index, const std::vector<unsigned>& indices) {
  return static_cast<unsigned>(std::ranges::find(indices, index) - indices.begin());
}

}  // namespace middlemark
