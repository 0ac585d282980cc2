// Native settings, and the transports and queue lengths of roscpp that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::ros1 {

inline constexpr const char* tcpros = "tcpros";
inline constexpr const char* tcpros_nodelay = "tcpros-nodelay";
inline constexpr const char* udpros = "udpros";
inline constexpr const char* intraprocess = "intraprocess";
inline constexpr const char* nodelet = "nodelet";

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::optional<std::uint16_t> master_port = key<std::uint16_t>(
      "master_port",
      {.help = "port of the trial's rosmaster", .least = 1, .most = 65'535, .otherwise = "any that is free"});
  bool service_persistent = key("service_persistent", true,
                                {.help = "a client keeps its connection (true) or makes one for each call (false)",
                                 .patterns = {Pattern::request_reply}});
  std::optional<int> udp_datagram_bytes =
      key<int>("udp_datagram_bytes", {.help = "largest datagram in bytes, `TransportHints::maxDatagramSize()`",
                                      .least = 64,
                                      .most = 65'507,
                                      .transports = {udpros},
                                      .otherwise = "1500"});
};

/// The settings of a trial, with limits of the queues in bytes. roscpp limits queues only by their number of messages,
/// so a deep or unlimited queue of large messages would fill the machine's memory.
struct Options : Native {
  std::string transport;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("ros1", settings)),
        transport(settings.transport),
        queued_bytes_(settings.message_bytes + overhead_bytes) {
    if (settings.calls_service()) {
      if (transport != tcpros && transport != tcpros_nodelay && transport != default_configuration) {
        throw AdapterError("ros1: " + transport + ": roscpp's services use TCP only",
                           "choose the transport tcpros for request and reply");
      }
      notes.emplace_back(
          "a request is one blocking ros::ServiceClient::call(): the time to write includes the time until the reply");
      if (transport == tcpros_nodelay) {
        notes.emplace_back("roscpp has TCP_NODELAY for topics only: services are the same as with tcpros");
      }
      if (settings.pattern == Pattern::request_reply) return;
    }
    std::size_t queues = 0;  // a subscriber has one queue for all publishers, which counts once for each
    for (const Topic& topic : settings.endpoints) queues += std::size_t{topic.publishers} * (1 + topic.subscribers);
    affordable_ =
        std::max(kit::physical_memory() / 4 / std::max<std::size_t>(queues, 1) / queued_bytes_, least_messages);
    kept_ = std::min(std::max(keep_all_bytes / queued_bytes_, least_messages), affordable_);
    const auto is_keep_all = [](const Topic& topic) { return !topic.depth; };
    if (std::ranges::any_of(settings.endpoints, is_keep_all)) {
      notes.push_back("keep-all: publish() waits while " + std::to_string(kept_ * queued_bytes_ >> 20) +
                      " MiB are not sent yet, and a subscriber that queues more than " +
                      std::to_string(keep_all_queue()) +
                      " messages drops the oldest: roscpp's unbounded queues would fill the memory");
    }
    if (settings.depth && *settings.depth > affordable_) {
      notes.push_back("the depth of " + std::to_string(*settings.depth) + " was reduced to " +
                      std::to_string(affordable_) + ": all queues together may take a quarter of the memory");
    }
    if (transport == udpros) note_datagrams(settings.message_bytes);
  }

  /// Returns true when messages stay in the process and are published as shared pointers.
  [[nodiscard]] bool shares() const { return transport == intraprocess || transport == nodelet; }

  /// Returns the length of a publisher's queue, in messages. 0 means no limit in roscpp; bytes_in_flight() then limits
  /// the queue.
  [[nodiscard]] std::uint32_t publisher_queue(const Topic& topic) const {
    return topic.depth ? static_cast<std::uint32_t>(depth(topic)) : 0;
  }

  /// Returns the length of a subscriber's queue, which all publishers of the topic share.
  [[nodiscard]] std::uint32_t subscriber_queue(const Topic& topic) const {
    return static_cast<std::uint32_t>((topic.depth ? depth(topic) : keep_all_queue()) * topic.publishers);
  }

  /// Returns how many bytes of a process's published messages may be unsent before publish() waits. If the trial has a
  /// depth, the limit only matters while roscpp's thread does not run, because messages then wait outside the queue.
  [[nodiscard]] std::size_t bytes_in_flight(const Topic& topic) const {
    return topic.depth ? depth(topic) * (topic.message_bytes + overhead_bytes) + keep_all_bytes : kept_ * queued_bytes_;
  }

  /// Returns how many messages of a publisher may be in use within a process before the publisher waits.
  [[nodiscard]] std::size_t shared_messages(const Topic& topic) const {
    const std::size_t in_callbacks_and_hands = topic.subscribers + std::size_t{2};
    return (topic.depth ? depth(topic) * topic.publishers * topic.subscribers : kept_) + in_callbacks_and_hands +
           topic.history;
  }

 private:
  /// The approximate number of bytes that roscpp needs for a queued message in addition to its content.
  static constexpr std::size_t overhead_bytes = 512;
  static constexpr std::size_t keep_all_bytes = std::size_t{256} << 20;
  static constexpr std::size_t least_messages = 4;

  [[nodiscard]] std::size_t depth(const Topic& topic) const { return std::min<std::size_t>(*topic.depth, affordable_); }
  [[nodiscard]] std::size_t keep_all_queue() const { return std::min(kept_ * 4, affordable_); }

  /// Adds a note if a message is larger than the receive buffer of a socket. UDPROS cuts a message into datagrams, and
  /// loses the message if one of them is dropped.
  void note_datagrams(std::size_t message_bytes) {
    constexpr std::size_t head_bytes = 8;
    const std::size_t content = static_cast<std::size_t>(udp_datagram_bytes.value_or(1500)) - head_bytes;
    const std::uint64_t room = kit::kernel_limit("net/core/rmem_default");
    // The kernel counts a datagram of 1500 bytes as 2304.
    if (room == 0 || message_bytes * 3 / 2 < room) return;
    notes.push_back("udpros: a message is sent as " + std::to_string((message_bytes + content - 1) / content) +
                    " datagrams at once, more than a socket's buffer of " + std::to_string(room) +
                    " bytes holds (net.core.rmem_default); the message is lost if one datagram is dropped");
  }

  std::size_t queued_bytes_;    // memory that one message takes in a queue
  std::size_t affordable_ = 0;  // messages that one queue may contain
  std::size_t kept_ = 0;        // unsent messages of a keep-all publisher before it waits
};

}  // namespace middlemark::ros1
