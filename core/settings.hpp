// The settings of a trial, as an adapter receives them. They are plain values and the same for all adapters.
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

/// Transport::patterns of a transport that supports crowds, and Transport::participants_per_process if a process may
/// contain any number of them.
inline const std::vector<Pattern> every_pattern{Pattern::ping_pong, Pattern::stream, Pattern::request_reply,
                                                Pattern::crowd};
inline constexpr std::size_t most_participants = 500;

/// A topic or service of the trial. All counts are known when the trial starts.
struct Topic {
  std::string name;  ///< [a-z0-9_]+, at most 63 characters; begins with Settings::scope, unique within the trial
  std::size_t message_bytes = 16;
  unsigned publishers = 1;                 ///< in all processes of the trial; for a service: the number of clients
  unsigned subscribers = 1;                ///< in all processes of the trial; for a service: 1, the server
  std::optional<std::uint32_t> depth = 1;  ///< keep-last history depth in messages (>= 1); nullopt is keep-all
  Reliability reliability = Reliability::reliable;
  MessageType type =
      MessageType::octets;       ///< other types: message_bytes is the size of the main array, see kit/messages.hpp
  bool service = false;          ///< native request/reply: see HasRequestReply
  unsigned publishers_here = 0;  ///< publishers in this process
  unsigned subscribers_here = 0;
  unsigned subscriber_processes =
      0;  ///< number of processes with subscribers; 0: one process per subscriber, or all subscribers in this process
  bool varies = false;        ///< true: message_bytes is the largest size; false: every message has this size
  bool paired = false;        ///< true: the other side is another adapter with the same Transport::wire
  std::uint32_t history = 0;  ///< transient-local: number of messages that a late joiner must receive; 0: volatile
  MessageType content =
      MessageType::octets;  ///< other types: the octets are a serialised message of this type, see kit/typed.hpp

  /// Returns how many messages wait for a subscriber when each publisher has filled its history; nullopt: unlimited. A
  /// middleware with one queue for all publishers needs a queue of this depth. In a shorter queue, one publisher's
  /// messages would displace another's.
  [[nodiscard]] std::optional<std::uint64_t> capacity() const {
    if (!depth) return std::nullopt;
    return std::uint64_t{*depth} * publishers;
  }
};

/// The settings of one trial, which an adapter reads once, when it opens. Most members are in RequestedSettings.
struct Settings : RequestedSettings {
  /// All topics and services of the trial, including those that this process does not use. Adapters size queues and
  /// pools by this list, not by the pattern and the counts. When companions() is called, `publishers_here` and
  /// `subscribers_here` are 0, since no worker has started yet. In a crowd, an adapter belongs to one participant, and the
  /// list has only the topics that this participant uses.
  std::vector<Topic> endpoints{};

  [[nodiscard]] bool is_default_configuration() const { return transport == default_configuration; }

  /// Returns whether the trial has native request/reply.
  [[nodiscard]] bool calls_service() const { return std::ranges::any_of(endpoints, &Topic::service); }
};

/// Thrown before the start if a trial cannot be made as requested. what() is the cause and place, advice() the next step.
class AdapterError : public std::runtime_error {
 public:
  explicit AdapterError(const std::string& text, std::string advice = {})
      : std::runtime_error(text), advice_(std::move(advice)) {}
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

 private:
  std::string advice_;
};

}  // namespace middlemark
