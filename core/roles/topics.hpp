// Names and properties of each pattern's topics. Publishers and subscribers call the same functions, so both get equal
// topics.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark {

/// Returns the entry of Settings::endpoints that has the name of `made`, or `made` if there is none. The entry also has
/// the numbers of publishers and subscribers in this process.
[[nodiscard]] inline Topic as_listed(const Settings& settings, const Topic& made) {
  for (const Topic& listed : settings.endpoints) {
    if (listed.name == made.name) return listed;
  }
  return made;
}

/// From the ping to every pong.
[[nodiscard]] inline Topic ping_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_ping", settings.message_bytes, 1, settings.subscribers, settings.depth,
                              settings.reliability, settings.type});
}

/// From each of the `echoing` pongs to the ping.
[[nodiscard]] inline Topic pong_topic(const Settings& settings, unsigned echoing) {
  return as_listed(settings, {settings.scope + "_pong", settings.message_bytes, echoing, 1, settings.depth,
                              settings.reliability, settings.type});
}

/// From every client to the server.
[[nodiscard]] inline Topic request_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_request", settings.message_bytes, settings.publishers, 1,
                              settings.depth, settings.reliability, settings.type});
}

/// From the server to one client. If all clients shared a topic, replies would displace each other in a shallow
/// history, and a client that has ended would block the other clients.
[[nodiscard]] inline Topic reply_topic(const Settings& settings, unsigned client) {
  return as_listed(settings, {settings.scope + "_reply" + std::to_string(client), settings.message_bytes, 1, 1,
                              settings.depth, settings.reliability, settings.type});
}

/// The service of a trial with native request/reply, which covers both directions.
[[nodiscard]] inline Topic service_topic(const Settings& settings) {
  return as_listed(settings, {settings.scope + "_service", settings.message_bytes, settings.publishers, 1,
                              settings.depth, settings.reliability, settings.type, true});
}

[[nodiscard]] inline Topic stream_topic(const Settings& settings, unsigned topic) {
  const TopicRequest& request = settings.topics[topic];
  Topic made{settings.scope + "_stream" + std::to_string(topic),
             request.message_bytes,
             static_cast<unsigned>(request.publishers.size()),
             static_cast<unsigned>(request.subscribers.size()),
             request.depth,
             request.reliability,
             request.type};
  made.varies = !request.sizes_path.empty();
  made.history = request.history;
  made.subscriber_processes = request.subscriber_processes;
  return as_listed(settings, made);
}

/// Returns the number of the topic with the replies to topic `requests`, if the two form a native service.
[[nodiscard]] inline std::optional<unsigned> replies_of(const Settings& settings, unsigned requests) {
  const auto replies = std::ranges::find(settings.topics, std::optional(requests), &TopicRequest::replies_to);
  if (replies == settings.topics.end()) return std::nullopt;
  return static_cast<unsigned>(replies - settings.topics.begin());
}

/// The native service of a graph whose requests are topic number `requests`; it covers both directions.
[[nodiscard]] inline Topic graph_service(const Settings& settings, unsigned requests) {
  const TopicRequest& request = settings.topics[requests];
  const std::size_t reply_bytes = settings.topics[*replies_of(settings, requests)].message_bytes;
  Topic made{settings.scope + "_service" + std::to_string(requests),
             std::max(request.message_bytes, reply_bytes),
             1,
             1,
             request.depth,
             request.reliability,
             request.type,
             true};
  made.varies = request.message_bytes != reply_bytes;
  return as_listed(settings, made);
}

/// Returns the index of a publisher (subscriber) among those of its topic, from 0. `index` is its number in the whole
/// trial; `indices` are these numbers for all publishers (subscribers) of the topic.
[[nodiscard]] inline unsigned place_of(unsigned index, const std::vector<unsigned>& indices) {
  return static_cast<unsigned>(std::ranges::find(indices, index) - indices.begin());
}

/// Returns whether the newcomer of a crowd subscribes to the topics of a participant. The newcomer has the first index
/// after those of the participants, and the next one after it is the first participant.
[[nodiscard]] inline bool newcomer_hears(const Settings& settings, unsigned owner) {
  return owner < settings.participants && (settings.subscribe == Subscribe::all || owner == 0);
}

/// Topic `number` of the participant `owner` of a crowd. Nobody subscribes to the topics of the newcomer.
[[nodiscard]] inline Topic crowd_topic(const Settings& settings, unsigned owner, unsigned number) {
  const unsigned others = settings.participants - 1;
  unsigned subscribers = settings.subscribe == Subscribe::all ? others : std::min(others, 1U);
  if (owner >= settings.participants) subscribers = 0;
  subscribers += newcomer_hears(settings, owner) ? 1 : 0;
  return as_listed(settings,
                   {settings.scope + "_crowd" + std::to_string(owner) + "_" + std::to_string(number),
                    settings.message_bytes, 1, subscribers, settings.depth, settings.reliability, settings.type});
}

/// Returns the participants to whose topics a participant of a crowd subscribes.
[[nodiscard]] inline std::vector<unsigned> crowd_sources(const Settings& settings, unsigned participant) {
  std::vector<unsigned> sources;
  if (participant == settings.participants && settings.subscribe == Subscribe::next) return {0};
  if (participant < settings.participants && settings.participants < 2) return sources;
  if (settings.subscribe == Subscribe::next) return {(participant + 1) % settings.participants};
  for (unsigned other = 0; other < settings.participants; ++other) {
    if (other != participant) sources.push_back(other);
  }
  return sources;
}

/// Returns the index of a participant among the subscribers of the topics of `owner`.
[[nodiscard]] inline unsigned crowd_place(const Settings& settings, unsigned owner, unsigned participant) {
  if (settings.subscribe == Subscribe::next)
    return participant == settings.participants ? std::min(settings.participants - 1, 1U) : 0;
  return participant < owner ? participant : participant - 1;
}

}  // namespace middlemark
