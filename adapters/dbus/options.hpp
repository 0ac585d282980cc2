// The native settings, and the daemon's limits that follow from a trial's settings. The daemon's limits are numbers of
// bytes, not of messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::dbus {

/// The largest limit: the daemon reads its limits as signed 32-bit numbers.
inline constexpr std::int64_t most_bytes = 2'147'483'647;
/// Limits of D-Bus: the size of an array, and the size of a message with its header.
inline constexpr std::size_t largest_array = std::size_t{64} << 20;
inline constexpr std::int64_t largest_message = std::int64_t{128} << 20;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  const NativeSetting limit{.least = 1, .most = most_bytes, .transports = {"bus"}, .type = NativeType::bytes};
  std::optional<std::int64_t> max_incoming = key<std::int64_t>(
      "max_incoming", saying("`max_incoming_bytes`: bytes of one sender that the daemon holds; at this limit the "
                             "daemon stops reading from the sender until it has passed some on",
                             limit));
  std::optional<std::int64_t> max_outgoing = key<std::int64_t>(
      "max_outgoing",
      saying("`max_outgoing_bytes`: bytes that the daemon holds for one receiver; at this limit the daemon drops "
             "further messages to the receiver",
             limit));
};

struct Options : Native {
  std::int64_t incoming = 0;  ///< the daemon's limit on the waiting bytes of one sender
  std::int64_t outgoing = 0;  ///< the daemon's limit on the waiting bytes for one receiver
  std::vector<std::string> notes;

  explicit Options(const Settings& settings) : Native(kit::read_native<Native>("dbus", settings)) {
    if (settings.transport == "peer") return;
    if (settings.is_default_configuration()) {
      notes.emplace_back("the daemon holds messages up to the limits of session.conf, and drops further messages");
      return;
    }
    std::int64_t held = 0;
    unsigned publishers = 1;
    bool reliable = false;
    for (const Topic& topic : settings.endpoints) {
      held = std::max(held, bytes(topic));
      publishers = std::max(publishers, topic.publishers);
      reliable = reliable || topic.service || topic.reliability == Reliability::reliable;
    }
    // A message that waits in the daemon for a slow receiver counts towards both limits. At the limit on incoming bytes
    // the sender waits; at the limit on outgoing bytes the daemon drops messages. So D-Bus loses nothing if the limit
    // on incoming bytes is lower than the other.
    const std::int64_t most_held = most_bytes / 2 / publishers;
    if (held > most_held)
      notes.push_back("the daemon holds " + mib(most_held) +
                      " of each publisher, which is less than the requested depth");
    held = std::min(held, most_held);
    incoming = max_incoming.value_or(reliable ? held : most_bytes);
    outgoing = max_outgoing.value_or(reliable ? most_bytes : held * publishers);
    if (!settings.depth) {
      notes.push_back("keep-all: the daemon holds " + mib(held) + " of each publisher, then " +
                      (reliable ? "the publisher waits" : "the daemon drops further messages"));
    }
  }

 private:
  /// Returns the bytes that one publisher's history may have. With keep-all it limits the number of small messages,
  /// because a subscriber must receive all waiting messages before its drain ends.
  [[nodiscard]] static std::int64_t bytes(const Topic& topic) {
    constexpr std::int64_t header_bytes = 256;
    constexpr std::int64_t most_messages = 16'384;
    constexpr std::int64_t keep_all_bytes = std::int64_t{64} << 20;
    const auto message = static_cast<std::int64_t>(topic.message_bytes) + header_bytes;
    if (topic.depth) return message * *topic.depth;
    return std::max(4 * message, std::min(keep_all_bytes, most_messages * message));
  }
  [[nodiscard]] static std::string mib(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }
};

}  // namespace middlemark::dbus
