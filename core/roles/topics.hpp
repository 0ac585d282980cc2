// The two topics of a ping-pong, as both roles name them.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Ping → every pong.
[[nodiscard]] inline Topic ping_topic(const Settings& settings) {
  return {settings.scope + "_ping", settings.message_bytes, 1, settings.subscribers};
}

/// Each of the `echoing` pongs → ping.
[[nodiscard]] inline Topic pong_topic(const Settings& settings, unsigned echoing) {
  return {settings.scope + "_pong", settings.message_bytes, echoing, 1};
}

}  // namespace middlemark
