// The native settings of Fast DDS, and the values that follow from a trial's settings. All values are computed before
// Fast DDS is opened. README.md gives the reason for each value that is not Fast DDS's default.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <dds_security/properties.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/segment.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

inline constexpr std::uint32_t kib = 1024;
inline constexpr std::uint32_t mib = 1024 * kib;
inline constexpr std::uint32_t max_packet =
    65'500;  ///< Fast DDS's s_maximumMessageSize; a larger sample is split into fragments

inline constexpr std::uint32_t hour_ms = 3'600'000;
using U32 = std::uint32_t;

/// The native settings. Options computes the value of a setting that is nullopt, because it depends on the trial.
// clang-format off
struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  bool asynchronous = key("publish_mode", false,
      {.help = "publish sends on the calling thread, or leaves the sending to a thread of Fast DDS",
       .choices = {"synchronous", "asynchronous"}});
  std::optional<std::int32_t> flow_bytes_per_period = key<std::int32_t>("flow_bytes_per_period",
      {.help = "most bytes that a process's writers send in a period, by a flow controller; needs publish_mode=asynchronous",
       .least = 0, .otherwise = "no limit", .type = NativeType::bytes});
  std::optional<U32> flow_period_ms = key<U32>("flow_period_ms",
      {.help = "period of the flow controller", .least = 1, .most = hour_ms, .otherwise = "100"});
  std::optional<U32> flow_scheduler = key<U32>("flow_scheduler",  // the index among Fast DDS's own values
      {.help = "whose message the flow controller sends next",
       .choices = {"fifo", "round-robin", "high-priority", "priority-with-reservation"}, .otherwise = "fifo"});
  U32 max_message_size = key("max_message_size", max_packet,
      {.help = "bytes of the largest packet; a larger message is cut into fragments of nearly that size",
       .least = 1000, .most = max_packet, .transports = {"shm", "udp", "tcp"}, .type = NativeType::bytes});
  std::optional<U32> shm_segment_size = key<U32>("shm_segment_size",
      {.help = "bytes of the shared-memory segment from which each process sends", .least = 128 * kib, .most = 2048U * mib,
       .transports = {"shm", "data-sharing"}, .otherwise = "512KiB or more, by depth and size", .type = NativeType::bytes});
  std::optional<U32> shm_port_queue_capacity = key<U32>("shm_port_queue_capacity",
      {.help = "packets that may wait at a shared-memory port, and that a segment can hold", .least = 1,
       .most = 1'000'000, .transports = {"shm", "data-sharing"}, .otherwise = "512 or more, by depth and size"});
  std::optional<U32> socket_buffer_bytes = key<U32>("socket_buffer_bytes",
      {.help = "send and receive buffer of every socket; the kernel caps it at net.core.wmem_max and rmem_max",
       .most = 1024U * mib, .transports = {"udp", "tcp"},
       .otherwise = "the kernel's or more, by depth and size", .type = NativeType::bytes});
  bool udp_non_blocking_send = key("udp_non_blocking_send", false,
      {.help = "a datagram that does not fit into the send buffer is dropped; otherwise publish waits", .transports = {"udp"}});
  bool tcp_nodelay = key("tcp_nodelay", true,
      {.help = "small segments are sent at once; false: Fast DDS's default, Nagle's algorithm", .transports = {"tcp"}});
  bool tcp_crc = key("tcp_crc", true, {.help = "a checksum over every byte is computed and checked", .transports = {"tcp"}});
  std::optional<U32> heartbeat_period_ms = key<U32>("heartbeat_period_ms",
      {.help = "period of a reliable writer's heartbeats", .least = 1, .most = hour_ms,
       .otherwise = "100; for streams 10, except for fragments over UDP and calls over TCP"});
  std::optional<bool> heartbeat_piggyback = key<bool>("heartbeat_piggyback",
      {.help = "the writer sends heartbeats together with data",
       .otherwise = "true, but over TCP only with messages that fit in one packet"});
  U32 nack_response_delay_ms = key("nack_response_delay_ms", 5U,
      {.help = "how long a reliable writer waits before it resends requested messages", .most = hour_ms});
  U32 nack_suppression_ms = key("nack_suppression_ms", 0U,
      {.help = "how long after sending a message a reliable writer ignores requests to resend it", .most = hour_ms});
  U32 heartbeat_response_delay_ms = key("heartbeat_response_delay_ms", 5U,
      {.help = "how long a reliable reader waits before it answers a heartbeat", .most = hour_ms});
  U32 positive_acks_off_ms = key("positive_acks_off_ms", 0U,
      {.help = "0: readers acknowledge; otherwise they only request missing messages, and a writer treats messages as "
               "received after this number of ms", .most = hour_ms});
  std::optional<U32> max_samples = key<U32>("max_samples",
      {.help = "messages that a keep-all history holds per publisher; publish waits while all of them are unacknowledged",
       .least = 1, .most = 10'000'000, .otherwise = "what fits in 256 MiB, 4 to 5000"});
  std::optional<U32> allocated_samples = key<U32>("allocated_samples",
      {.help = "messages for which a history allocates memory at the start", .most = 10'000'000, .otherwise = "at most 100"});
  std::optional<U32> extra_samples = key<U32>("extra_samples",
      {.help = "messages that a writer's pool holds in addition to its history", .least = 1, .most = 10'000,
       .otherwise = "1; with data-sharing 34 or fewer for streams and keep-all"});
  // 1: preallocated-with-realloc; the choices are in the order of Fast DDS's MemoryManagementPolicy
  U32 history_memory = key("history_memory", 1U,
      {.help = "how histories allocate memory for messages; data-sharing supports only the first two",
       .choices = {"preallocated", "preallocated-with-realloc", "dynamic", "dynamic-reusable"}});
  U32 send_buffers = key("send_buffers", 0U,
      {.help = "buffers in which a participant builds packets; 0: as many as the participant has threads", .most = 10'000});
  bool send_buffers_dynamic = key("send_buffers_dynamic", false,
      {.help = "if all send buffers are in use, more are allocated; otherwise publish waits"});
  std::string config = key("config", std::string(),
      {.help = "a file with your own profiles in XML, whose default profiles are used: see --config", .type = NativeType::file});
  std::map<std::string, std::string> properties = keys("property.*",
      {.help = "a property of the participant and of every writer and reader; Fast DDS ignores unknown ones without an error"});
};
// clang-format on

struct Options : Native {
  static constexpr const char* about_server =
      "messages do not pass through the discovery server: it only helps the participants find each other";
  static constexpr std::int32_t most_samples_per_read = 32;   ///< Fast DDS's default of max_samples_per_read
  static constexpr std::uint32_t usual_mutation_tries = 100;  ///< Fast DDS's default

  const Settings settings;
  const bool is_default;          ///< uses Fast DDS's defaults, changed only by factors
  const bool secure;              ///< the trial has security
  const bool by_server;           ///< participants find each other by a discovery server
  const bool streams;             ///< also true for requests and replies
  const std::uint64_t sample;     ///< bytes of the largest message with its headers
  std::uint32_t publishers = 1;   ///< of the topic with the most publishers
  std::uint32_t subscribers = 1;  ///< of the topic with the most subscribers
  bool sends = false;             ///< this process sends
  bool receives = false;          ///< this process receives
  bool composed = false;          ///< this process is one of several, and has publishers and subscribers of one topic
  std::uint32_t mutation_tries;   ///< number of ports that a participant tries before it gives up
  std::uint32_t segment = 512 * kib;  ///< at least Fast DDS's default
  std::uint32_t queue = 512;          ///< at least Fast DDS's default
  std::uint32_t socket_buffer = 0;    ///< 0: the system's default
  std::uint32_t writer_samples = 0;   ///< the limit of a writer's keep-all history
  std::uint32_t reader_samples = 0;   ///< the limit of a reader's keep-all history
  std::int32_t samples_per_read = most_samples_per_read;
  std::chrono::milliseconds linger{0};  ///< how long readers exist after the end of the trial

  explicit Options(const Settings& trial)
      : Native(kit::read_native<Native>("fastdds", trial)),
        settings(trial),
        is_default(trial.is_default_configuration()),
        secure(trial.security != Security::none),
        by_server(trial.via == Via::discovery_server),
        streams(trial.pattern != Pattern::ping_pong),
        sample(trial.message_bytes + 512),
        mutation_tries(trial.pattern == Pattern::crowd ? std::max(usual_mutation_tries, trial.participants)
                                                       : usual_mutation_tries) {
    for (const Topic& topic : settings.endpoints) {
      publishers = std::max(publishers, topic.publishers);
      subscribers = std::max(subscribers, topic.subscribers);
      sends = sends || topic.publishers_here > 0;
      receives = receives || topic.subscribers_here > 0;
      composed = composed || (settings.workers > 1 && topic.publishers_here > 0 && topic.subscribers_here > 0);
    }
    refuse();
    size_histories();
    size_transports();
    check_shared_memory();
    // A writer of 2.9 can deadlock if a reader disappears during a resend. So readers exist until all messages are
    // acknowledged, because acknowledged messages are not resent.
    if (is_default && streams && settings.reliability == Reliability::reliable) linger = std::chrono::milliseconds(300);
    if (is_default) return;
    const bool fragmented = sample > max_message_size;
    if (!heartbeat_piggyback) heartbeat_piggyback = !over("tcp") || !fragmented;
    // A short period is harmful. Over UDP, fragments that a reader requests after one heartbeat may still be in transit
    // at the next, and the reader requests them again. Over TCP, the answer to a heartbeat may block two processes that
    // send to each other (README.md, Traps).
    const bool slow_heartbeat = fragmented && (over("udp") || (over("tcp") && sends && receives));
    if (!heartbeat_period_ms) heartbeat_period_ms = streams && !slow_heartbeat ? 10 : 100;
    if (streams && settings.reliability == Reliability::reliable) {
      linger = std::chrono::milliseconds(std::min(2 * *heartbeat_period_ms + heartbeat_response_delay_ms + 10, 300U));
    }
  }

  [[nodiscard]] bool over(const char* transport) const { return settings.transport == transport; }
  [[nodiscard]] bool flow_controlled() const { return flow_bytes_per_period || flow_period_ms || flow_scheduler; }
  [[nodiscard]] std::uint64_t writer_messages() const { return settings.depth.value_or(writer_samples); }

  /// Returns the segment of the SHM transport if messages go through it. With the default configuration, messages of a
  /// type that is not plain and messages with security do; others use data-sharing. A user's profile may change the
  /// segment.
  [[nodiscard]] SharedSegment shared_segment() const {
    const bool plain = std::ranges::none_of(
        settings.endpoints, [](const Topic& each) { return each.type != MessageType::octets || each.varies; });
    const bool by_default = is_default && config.empty() && !settings.one_process && (secure || !plain);
    if (!over("shm") && !by_default) return {};
    return {segment, over("shm") ? "native.fastdds.shm_segment_size"
                                 : "segment_size of the SHM transport in a profile, with native.fastdds.config"};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (!config.empty()) {
      all.emplace_back("config: its default profiles are used, except for the domain, the interface of its transports" +
                       std::string(is_default ? "" : ", the transport") +
                       ", the security and the quality of service, which the suite sets");
    }
    if (by_server) all.emplace_back(about_server);
    if (composed && !secure && !over("intraprocess") && !is_default)
      all.push_back("messages between nodes of one process use intraprocess delivery, which is Fast DDS's default");
    const std::uint64_t granted = kit::kernel_limit("net/core/rmem_max");
    if (over("udp") && granted != 0 && socket_buffer > granted) {
      all.push_back("the kernel limits receive buffers to " + text(granted) + " bytes, but " + text(socket_buffer) +
                    " were requested: packets that do not fit are dropped and, if reliable, sent again; " +
                    "sysctl -w net.core.rmem_max=" + text(socket_buffer));
    }
    if (!settings.depth) {
      all.push_back("keep-all is bounded to " + text(writer_samples) + " messages at a writer and " +
                    text(reader_samples) + " at a reader");
    } else if (publishers > 1) {
      all.push_back("the depth counts for each publisher: a reader with " + text(publishers) + " publishers keeps " +
                    text(writer_messages() * publishers) + " messages");
    }
    return all;
  }

 private:
  [[nodiscard]] static std::string text(std::uint64_t number) { return std::to_string(number); }
  static void demand(bool fulfilled, const std::string& otherwise, const std::string& advice) {
    if (!fulfilled) throw AdapterError("fastdds: " + otherwise, advice);
  }

  /// Throws an AdapterError for combinations of settings that do not work, and that the transports and the table of
  /// native settings cannot exclude.
  void refuse() const {
    demand(asynchronous || !flow_controlled(), "native: flow_* has no effect on synchronous publishing",
           "add publish_mode=asynchronous");
    demand(!settings.depth || !max_samples, "native: max_samples limits a keep-all history, but this trial has a depth",
           "leave out max_samples, or choose keep-all");
    // With keep-all and without acknowledgements, Fast DDS 2.9 aborts, or never frees a full history.
    demand(settings.depth || positive_acks_off_ms == 0,
           "native: positive_acks_off_ms: a keep-all history is emptied by acknowledgements",
           "choose a history depth, or leave the key out");
    demand(!over("data-sharing") || history_memory <= 1,
           "native: history_memory: data-sharing needs memory of a fixed size",
           "choose preallocated or preallocated-with-realloc, or another transport");
    for (const auto& [name, value] : properties) {
      demand(!name.starts_with(dds_security::prefix), "native: property." + name + " is set by the factor 'security'",
             "choose it with security and --certs");
    }
    demand(!by_server || !secure, "via discovery-server: the server of a trial has no certificate",
           "choose --via direct, or --security none");
    demand(!secure || !composed || !over("tcp"), "tcp: nodes of one process would exchange messages without protection",
           "give each node its own process, or choose another transport");
    // RTPS has 250 ports per domain. Each participant uses two of them, beginning with the eleventh.
    const unsigned workers = settings.one_process ? 1 : settings.workers;
    demand(over("tcp") || 7400 + 250 * settings.domain + 11 + 2 * (static_cast<int>(workers) - 1) <= 65'535,
           "domain " + std::to_string(settings.domain) + " has no ports for " + text(workers) + " processes",
           "choose a lower domain");
    demand(!is_default || !config.empty() || mutation_tries <= usual_mutation_tries,
           "the crowd has " + text(settings.participants) + " participants, and by default Fast DDS finds ports for " +
               text(usual_mutation_tries) + " on a host",
           "choose the transport udp or shm, which set mutation_tries, or set it in a file for --config");
  }

  /// Limits keep-all histories, which could otherwise fill the machine's memory. All writers of a topic together keep
  /// as many messages as fit into 256 MiB; all readers of a topic together have the same limit.
  void size_histories() {
    constexpr std::uint64_t default_samples = 5000;
    const std::uint64_t writers = publishers;
    const bool shared = over("data-sharing");
    const auto fitting = [this](std::uint64_t histories, std::uint64_t sources) {
      const std::uint64_t fit = std::uint64_t{256} * mib / (histories * sample);
      return static_cast<std::uint32_t>(std::clamp(fit, 4 * sources, default_samples * sources));
    };
    writer_samples = max_samples.value_or(fitting(writers, 1));
    // With data-sharing a reader keeps no copies of messages. If its full history refuses a message, the listener of
    // 2.9 can loop for ever, even after the reader was deleted. A reader in the writer's process shares the writer's
    // memory, and a message that it refused may not be resent for seconds. So in both cases the reader's history has
    // room for the messages of all writers.
    const bool holds_all = max_samples || shared || is_default || over("intraprocess");
    reader_samples = holds_all ? writer_samples * publishers : fitting(subscribers, writers);
    const std::uint32_t held = settings.depth.value_or(std::min(writer_samples, reader_samples));
    if (!allocated_samples) allocated_samples = std::min({writer_samples, reader_samples, held, 100U});
    demand(*allocated_samples <= held,
           "native: allocated_samples: " + text(*allocated_samples) + " messages are more than the history holds, " +
               text(held),
           "lower allocated_samples, or choose a deeper history");
    // With data-sharing a reader acknowledges a message when it takes the message, before the message is visited. So
    // the writer needs spare samples: while the messages of one read are visited, it must be able to write that number
    // of further messages.
    if (shared) {
      samples_per_read =
          static_cast<std::int32_t>(std::clamp<std::uint64_t>(32ULL * mib / sample, 1, most_samples_per_read));
    }
    const bool guarded = shared && (!settings.depth || streams);
    if (!extra_samples) extra_samples = guarded ? static_cast<std::uint32_t>(samples_per_read) + 2 : 1;
  }

  /// Computes the sizes of the transport's buffers. If a buffer is full, a message is dropped, and a reliable message
  /// is resent one heartbeat later. So the buffers are as large as the whole history of a stream, unless this needs too
  /// much memory.
  void size_transports() {
    constexpr std::uint64_t most_queued = 16'384;
    constexpr std::uint64_t most_memory = 16ULL * mib;
    const auto at_least = [](std::uint32_t& size, std::uint64_t needed) {
      size = std::max(size, static_cast<std::uint32_t>(needed));
    };
    const std::uint64_t fragments = sample / (max_message_size - 512) + 1;
    const std::uint64_t messages = streams ? writer_messages() : 1;
    if (over("shm")) {
      const std::uint64_t message = sample + fragments * 512;
      at_least(segment, std::max(4 * message, std::min(messages * message, most_memory)));
      at_least(queue, std::max(2 * fragments, std::min(messages * fragments * publishers, most_queued)));
    } else if (over("data-sharing") && streams) {
      // With data-sharing, only discovery and acknowledgements (one for each message and reader) go through the
      // transport.
      at_least(segment, std::min(messages * publishers * 512, most_memory));
      at_least(queue, std::min(messages * std::max(publishers, subscribers), most_queued));
    } else if (over("udp")) {
      if (sample > max_message_size) at_least(socket_buffer, 4 * sample);
      const std::uint64_t history =
          std::min(messages * publishers * (sample + fragments * 768), std::uint64_t{4} * mib);
      if (streams && history > 212'992) at_least(socket_buffer, history);  // more than the kernel's default
    }
    segment = shm_segment_size.value_or(segment);
    queue = shm_port_queue_capacity.value_or(queue);
    socket_buffer = socket_buffer_bytes.value_or(socket_buffer);
  }

  void check_shared_memory() const {
    const std::uint64_t pool = over("data-sharing") ? (writer_messages() + *extra_samples) * sample : 0;
    demand(pool <= 4095ULL * mib,
           "data-sharing: a history of " + text(pool) + " bytes is larger than Fast DDS's pool may be (4 GiB)",
           "lower the depth or the size");
    if (pool == 0 && !over("shm")) return;
    kit::require_shared_memory(segment + pool, "fastdds: " + settings.transport + ": the messages of each process");
  }
};

}  // namespace middlemark::fastdds
