// What a trial's settings come to in Fast DDS's own terms: a value, made before anything is opened. README.md gives the
// reason for each figure that is not Fast DDS's default.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/settings.hpp>

#include "native.hpp"

namespace middlemark::fastdds {

inline constexpr std::uint32_t kib = 1024;
inline constexpr std::uint32_t mib = 1024 * kib;
inline constexpr std::uint32_t max_packet = 65500;  ///< s_maximumMessageSize; a larger sample is cut into fragments
inline constexpr std::uint32_t default_segment = 512 * kib;
inline constexpr std::uint32_t default_queue = 512;
inline constexpr std::uint32_t default_max_samples = 5000;
inline constexpr std::uint32_t default_allocated_samples = 100;

[[nodiscard]] inline Carrier carrier_of(const std::string& transport) {
  for (const Carrier each : {Carrier::shm, Carrier::intraprocess, Carrier::data_sharing, Carrier::udp, Carrier::tcp}) {
    if (name_of(each) == transport) return each;
  }
  throw AdapterError("fastdds: there is no transport '" + transport + "'",
                     "choose shm, intraprocess, data-sharing, udp or tcp");
}

/// Publishers of one topic, of the one that has most of them.
[[nodiscard]] inline std::uint32_t publishers_of_a_topic(const Settings& settings) {
  const unsigned publishers = settings.pattern == Pattern::ping_pong ? settings.subscribers : settings.publishers;
  const unsigned topics = std::max(1U, settings.topics);
  return std::max(1U, (publishers + topics - 1) / topics);
}

struct Options {
  Carrier carrier = Carrier::shm;
  std::uint32_t segment = default_segment;
  std::uint32_t queue = default_queue;
  std::uint32_t socket_buffer = 0;  ///< 0: the system's
  std::uint32_t packet = max_packet;
  bool udp_non_blocking = false;
  bool tcp_nodelay = true;
  bool tcp_crc = true;
  bool asynchronous = false;
  bool flow_controlled = false;
  std::uint32_t flow_bytes = 0;
  std::uint32_t flow_period_ms = 100;
  std::uint32_t flow_scheduler = 0;
  bool piggyback = true;
  std::chrono::milliseconds heartbeat{100};
  std::chrono::milliseconds nack_response{5};
  std::chrono::milliseconds nack_suppression{0};
  std::chrono::milliseconds heartbeat_response{5};
  std::chrono::milliseconds positive_acks_off{0};
  std::uint32_t history_memory = 1;  ///< its place among Fast DDS's own
  std::uint32_t send_buffers = 0;
  bool send_buffers_dynamic = false;
  std::uint32_t writer_samples = default_max_samples;  ///< of a keep-all history
  std::uint32_t reader_samples = default_max_samples;  ///< likewise
  std::uint32_t allocated_samples = default_allocated_samples;
  std::uint32_t extra_samples = 1;      ///< of a writer's pool, beyond its history
  std::int32_t samples_per_read = 32;   ///< at most Fast DDS's max_samples_per_read
  std::chrono::milliseconds linger{0};  ///< how long readers stay at the end
  std::vector<std::pair<std::string, std::string>> properties;

  [[nodiscard]] std::uint64_t writer_messages(const Settings& settings) const {
    return settings.depth ? *settings.depth : writer_samples;
  }

  /// Bytes of one writer's data-sharing pool.
  [[nodiscard]] std::uint64_t pool_bytes(const Settings& settings) const {
    return (writer_messages(settings) + extra_samples) * (settings.message_bytes + 512);
  }

  explicit Options(const Settings& settings) : carrier(carrier_of(settings.transport)) {
    refuse(settings);
    const Native native(settings.native, carrier);
    const std::uint64_t sample = settings.message_bytes + 512;  // with its headers
    size_histories(settings, native, sample);
    packet = native.get("max_message_size", max_packet);
    const std::uint64_t fragments = sample / (packet - 512) + 1;
    size_transports(settings, native, sample, fragments);
    udp_non_blocking = native.get("udp_non_blocking_send", 0) != 0;
    tcp_nodelay = native.get("tcp_nodelay", 1) != 0;
    tcp_crc = native.get("tcp_crc", 1) != 0;
    const bool tcp_fragments = carrier == Carrier::tcp && sample > packet;
    piggyback = native.get("heartbeat_piggyback", tcp_fragments ? 0 : 1) != 0;
    const auto milliseconds = [&native](const char* name, std::uint64_t otherwise) {
      return std::chrono::milliseconds(native.get(name, otherwise));
    };
    // Over UDP the fragments that a heartbeat has asked for may still be on their way when the next one asks again.
    const bool asks_in_vain = carrier == Carrier::udp && sample > packet;
    heartbeat = milliseconds("heartbeat_period_ms", settings.pattern == Pattern::ping_pong || asks_in_vain ? 100 : 10);
    nack_response = milliseconds("nack_response_delay_ms", 5);
    nack_suppression = milliseconds("nack_suppression_ms", 0);
    heartbeat_response = milliseconds("heartbeat_response_delay_ms", 5);
    // A writer of 2.9 can deadlock when a reader goes while it resends to it; what is acknowledged is not resent.
    if (settings.pattern != Pattern::ping_pong && settings.reliability == Reliability::reliable) {
      linger =
          std::min(2 * heartbeat + heartbeat_response + std::chrono::milliseconds(10), std::chrono::milliseconds(300));
    }
    positive_acks_off = milliseconds("positive_acks_off_ms", 0);
    if (positive_acks_off.count() > 0 && !settings.depth) {
      // Fast DDS 2.9 aborts, or never takes a full history's messages for received.
      throw AdapterError("fastdds: native: positive_acks_off_ms: a keep-all history is emptied by acknowledgements",
                         "choose a history depth, or leave the key out");
    }
    send_buffers = native.get("send_buffers", 0);
    send_buffers_dynamic = native.get("send_buffers_dynamic", 0) != 0;
    history_memory = native.get("history_memory", 1);
    if (carrier == Carrier::data_sharing && history_memory > 1) {
      throw AdapterError("fastdds: native: history_memory: data-sharing needs memory of a size that is known before",
                         "choose preallocated or preallocated-with-realloc, or another transport");
    }
    choose_publishing(native);
    properties = native.properties();
  }

 private:
  /// Keep-all without a bound is the machine's memory: all writers of a topic together hold as many messages as fit in
  /// 256 MiB, and so do all its readers.
  void size_histories(const Settings& settings, const Native& native, std::uint64_t sample) {
    if (settings.depth && native.has("max_samples")) {
      throw AdapterError("fastdds: native: max_samples bounds a keep-all history, and this trial's has a depth",
                         "leave it out, or choose keep-all");
    }
    constexpr std::uint64_t keep_all_memory = 256ULL * mib;
    const std::uint64_t writers = publishers_of_a_topic(settings);
    const std::uint64_t readers = std::max(1U, settings.subscribers);
    const auto fitting = [sample](std::uint64_t ends, std::uint64_t least, std::uint64_t most) {
      return std::clamp(keep_all_memory / (ends * sample), least, most);
    };
    writer_samples = native.get("max_samples", fitting(writers, 4, default_max_samples));
    // A data-sharing reader keeps no messages of its own, and 2.9's listener can spin for ever, beyond the reader's end,
    // on one that a full history refused.
    const bool holds_all = native.has("max_samples") || carrier == Carrier::data_sharing;
    reader_samples =
        static_cast<std::uint32_t>(holds_all ? std::uint64_t{writer_samples} * writers
                                             : fitting(readers, 4 * writers, default_max_samples * writers));
    allocated_samples =
        native.get("allocated_samples", std::min({writer_samples, reader_samples, default_allocated_samples}));
    const std::uint64_t least = settings.depth ? *settings.depth : std::min(writer_samples, reader_samples);
    if (native.has("allocated_samples") && allocated_samples > least) {
      throw AdapterError("fastdds: native: allocated_samples: " + std::to_string(allocated_samples) +
                             " messages are more than the history holds, " + std::to_string(least),
                         "lower it, or deepen the history");
    }
    allocated_samples = static_cast<std::uint32_t>(std::min<std::uint64_t>(allocated_samples, least));
    // A reader acknowledges a message of a data-sharing writer when it takes it, before it is visited. What a read
    // brings must therefore stay untouched while that many others are written.
    const bool shared = carrier == Carrier::data_sharing;
    const bool guarded = shared && (!settings.depth || settings.pattern != Pattern::ping_pong);
    if (shared) samples_per_read = static_cast<std::int32_t>(std::clamp<std::uint64_t>(32ULL * mib / sample, 1, 32));
    extra_samples = native.get("extra_samples", guarded ? static_cast<std::uint64_t>(samples_per_read) + 2 : 1);
  }

  /// What waits between a writer and its readers is dropped where it does not fit, and the reliable resend it one
  /// heartbeat later: a stream's whole history has to fit, as far as that is not much memory.
  void size_transports(const Settings& settings, const Native& native, std::uint64_t sample, std::uint64_t fragments) {
    const bool streams = settings.pattern != Pattern::ping_pong;
    const std::uint64_t writers = publishers_of_a_topic(settings);
    const std::uint64_t messages = streams ? writer_messages(settings) : 1;
    constexpr std::uint64_t most_queued = 16'384;
    constexpr std::uint64_t most_memory = 16ULL * mib;
    std::uint64_t in_segment = 0;
    std::uint64_t in_queue = 0;
    if (carrier == Carrier::shm) {
      const std::uint64_t message = sample + fragments * 512;
      in_segment = std::max(4 * message, std::min(messages * message, most_memory));
      in_queue = std::max(2 * fragments, std::min(messages * fragments * writers, most_queued));
    } else if (carrier == Carrier::data_sharing && streams) {
      // Here the transport carries discovery and acknowledgements only: of every message one by each reader.
      in_segment = std::min(messages * writers * 512, most_memory);
      in_queue = std::min(messages * std::max<std::uint64_t>(writers, settings.subscribers), most_queued);
    }
    segment = native.get("shm_segment_size", std::max<std::uint64_t>(default_segment, in_segment));
    queue = native.get("shm_port_queue_capacity", std::max<std::uint64_t>(default_queue, in_queue));

    std::uint64_t buffer = 0;
    if (carrier == Carrier::udp) {
      constexpr std::uint64_t most_buffered = 4ULL * mib;
      constexpr std::uint64_t kernel_default = 212'992;
      if (sample > packet) buffer = 4 * sample;
      const std::uint64_t history = std::min(messages * writers * (sample + fragments * 768), most_buffered);
      if (streams && history > kernel_default) buffer = std::max(buffer, history);
    }
    socket_buffer = native.get("socket_buffer_bytes", buffer);
  }

  void choose_publishing(const Native& native) {
    asynchronous = native.get("publish_mode", 0) != 0;
    for (const char* name : {"flow_bytes_per_period", "flow_period_ms", "flow_scheduler"}) {
      if (!native.has(name)) continue;
      if (!asynchronous) {
        throw AdapterError(std::string("fastdds: native: ") + name + " has no effect on synchronous publishing",
                           "give publish_mode=asynchronous too");
      }
      flow_controlled = true;
    }
    flow_bytes = native.get("flow_bytes_per_period", 0);
    flow_period_ms = native.get("flow_period_ms", 100);
    flow_scheduler = native.get("flow_scheduler", 0);
  }

  void refuse(const Settings& settings) const {
    if (carrier == Carrier::intraprocess && !settings.one_process) {
      throw AdapterError("fastdds: intraprocess delivery does not reach another process", "choose one process, or shm");
    }
    if (carrier == Carrier::tcp && settings.one_process) {
      throw AdapterError("fastdds: over TCP a participant does not reliably connect to itself", "choose two processes");
    }
    if (settings.message_bytes > std::size_t{64} * mib) {
      throw AdapterError("fastdds: a message of " + std::to_string(settings.message_bytes) + " bytes is beyond 64 MiB");
    }
    if (settings.domain < 0 || settings.domain > 232) {
      throw AdapterError("fastdds: " + std::to_string(settings.domain) + " is not a domain",
                         "domains go from 0 to 232");
    }
    // The ports of RTPS: 250 a domain, of which each participant takes two, from the eleventh on.
    const unsigned workers = settings.one_process ? 1 : settings.workers;
    const unsigned last_port = 7400 + 250 * static_cast<unsigned>(settings.domain) + 11 + 2 * (workers - 1);
    if (carrier != Carrier::tcp && last_port > 65'535) {
      throw AdapterError("fastdds: domain " + std::to_string(settings.domain) + " has no ports for " +
                             std::to_string(workers) + " processes",
                         "choose a lower domain");
    }
  }
};

}  // namespace middlemark::fastdds
