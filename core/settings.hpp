// What one trial asks of an adapter. What an adapter says of itself is in description.hpp. Plain values; no middleware is named here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <middlemark/description.hpp>

namespace middlemark {

/// A topic, or a service, of the trial. All counts are known when the trial starts.
struct Topic {
  std::string name;  ///< [a-z0-9_]+, at most 63 characters; begins with Settings::scope, unique within the trial
  std::size_t message_bytes = 16;
  unsigned publishers = 1;                 ///< of the whole trial, in every process; of a service: its clients
  unsigned subscribers = 1;                ///< likewise; of a service: 1, its server
  std::optional<std::uint32_t> depth = 1;  ///< keep-last history depth in messages (>= 1); nullopt is keep-all
  Reliability reliability = Reliability::reliable;
  MessageType type = MessageType::octets;  ///< another: message_bytes are its main array's, see kit/messages.hpp
  bool service = false;                    ///< request and reply of the middleware's own: see HasRequestReply
  unsigned publishers_here = 0;            ///< of those, in this process
  unsigned subscribers_here = 0;
  unsigned subscriber_processes = 0;  ///< the subscribers are in so many; 0: each in its own, or all in this one
  bool varies = false;                ///< a message has at most message_bytes; else exactly so many
  std::uint32_t history =
      0;  ///< transient-local: so many messages must reach a subscriber that joins late; 0: volatile

  /// Messages that wait for a subscriber when each publisher has filled its history; nullopt: without a bound. Where a
  /// middleware has one queue for all publishers, a shallower one would let them push each other's messages out.
  [[nodiscard]] std::optional<std::uint64_t> capacity() const {
    if (!depth) return std::nullopt;
    return std::uint64_t{*depth} * publishers;
  }
};

/// One trial's request. Frozen: an adapter reads it once, when it opens. What is not here is in RequestedSettings (protocol.hpp).
struct Settings : RequestedSettings {
  /// Every topic and service of the trial, also those that this process has no part in: what to size queues and pools by,
  /// instead of deriving it from the pattern and the counts. Asked for companions, which start first, `…_here` is 0.
  std::vector<Topic> endpoints{};

  [[nodiscard]] bool comes_as_it_is() const { return transport == as_it_comes; }

  /// Whether there is request and reply of the middleware's own in the trial.
  [[nodiscard]] bool calls_service() const { return std::ranges::any_of(endpoints, &Topic::service); }
};

/// Something cannot be done; what() names the thing and the place, advice() the next step. Only ever thrown before the start.
class AdapterError : public std::runtime_error {
 public:
  explicit AdapterError(const std::string& text, std::string advice = {})
      : std::runtime_error(text), advice_(std::move(advice)) {}
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

 private:
  std::string advice_;
};

}  // namespace middlemark
