// The topics of a stream, with the roles distributed over them.
#pragma once

#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::test {

/// Publisher p and subscriber s are on topics p and s modulo `topics`.
inline std::vector<TopicRequest> topics_of(const Settings& settings, unsigned topics) {
  std::vector<TopicRequest> all(topics);
  for (unsigned p = 0; p < settings.publishers; ++p) all[p % topics].publishers.push_back(p);
  for (unsigned s = 0; s < settings.subscribers; ++s) all[s % topics].subscribers.push_back(s);
  for (TopicRequest& each : all) {
    each.message_bytes = settings.message_bytes;
    each.reliability = settings.reliability;
    each.depth = settings.depth;
  }
  return all;
}

}  // namespace middlemark::test
