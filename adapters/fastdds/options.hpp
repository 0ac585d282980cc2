// Fast DDS's own settings that a trial may name, and what a trial's settings come to in Fast DDS's own terms: values, made
// before anything is opened. README.md gives the reason for each figure that is not Fast DDS's default.
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
inline constexpr std::uint32_t max_packet = 65'500;  ///< s_maximumMessageSize; a larger sample is cut into fragments

inline constexpr std::uint32_t hour_ms = 3'600'000;
using U32 = std::uint32_t;

/// What is nullopt here depends on the trial: Options says what it is then.
// clang-format off
struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  bool asynchronous = key("publish_mode", false,
      {.help = "whether publish sends, or a thread of Fast DDS's own", .choices = {"synchronous", "asynchronous"}});
  std::optional<std::int32_t> flow_bytes_per_period = key<std::int32_t>("flow_bytes_per_period",
      {.help = "most bytes that a process's writers send in a period, by a flow controller; needs publish_mode=asynchronous",
       .least = 0, .otherwise = "no limit", .type = NativeType::bytes});
  std::optional<U32> flow_period_ms = key<U32>("flow_period_ms",
      {.help = "period of the flow controller", .least = 1, .most = hour_ms, .otherwise = "100"});
  std::optional<U32> flow_scheduler = key<U32>("flow_scheduler",  // its place among Fast DDS's own
      {.help = "whose message the flow controller sends next",
       .choices = {"fifo", "round-robin", "high-priority", "priority-with-reservation"}, .otherwise = "fifo"});
  U32 max_message_size = key("max_message_size", max_packet,
      {.help = "bytes of the largest packet; a larger message is cut into fragments of nearly that size",
       .least = 1000, .most = max_packet, .transports = {"shm", "udp", "tcp"}, .type = NativeType::bytes});
  std::optional<U32> shm_segment_size = key<U32>("shm_segment_size",
      {.help = "bytes of the shared-memory segment each process sends from", .least = 128 * kib, .most = 2048U * mib,
       .transports = {"shm", "data-sharing"}, .otherwise = "512KiB or more, by depth and size", .type = NativeType::bytes});
  std::optional<U32> shm_port_queue_capacity = key<U32>("shm_port_queue_capacity",
      {.help = "packets that may wait at a shared-memory port, and that a segment can hold", .least = 1,
       .most = 1'000'000, .transports = {"shm", "data-sharing"}, .otherwise = "512 or more, by depth and size"});
  std::optional<U32> socket_buffer_bytes = key<U32>("socket_buffer_bytes",
      {.help = "send and receive buffer of every socket; the kernel caps it at net.core.wmem_max and rmem_max",
       .most = 1024U * mib, .transports = {"udp", "tcp"},
       .otherwise = "the kernel's or more, by depth and size", .type = NativeType::bytes});
  bool udp_non_blocking_send = key("udp_non_blocking_send", false,
      {.help = "a datagram that the send buffer has no room for is dropped; else publish waits", .transports = {"udp"}});
  bool tcp_nodelay = key("tcp_nodelay", true,
      {.help = "small segments are sent at once; false: Fast DDS's default, Nagle's algorithm", .transports = {"tcp"}});
  bool tcp_crc = key("tcp_crc", true, {.help = "a checksum over every byte, made and checked", .transports = {"tcp"}});
  std::optional<U32> heartbeat_period_ms = key<U32>("heartbeat_period_ms",
      {.help = "period of a reliable writer's heartbeats", .least = 1, .most = hour_ms,
       .otherwise = "100; of streams 10, but not of fragments over UDP, nor of calls over TCP"});
  std::optional<bool> heartbeat_piggyback = key<bool>("heartbeat_piggyback",
      {.help = "heartbeats ride on data", .otherwise = "true, but over TCP only with messages that fit in one packet"});
  U32 nack_response_delay_ms = key("nack_response_delay_ms", 5U,
      {.help = "how long a reliable writer waits before it resends what was asked for", .most = hour_ms});
  U32 nack_suppression_ms = key("nack_suppression_ms", 0U,
      {.help = "how long after sending a message a reliable writer ignores that it is asked for", .most = hour_ms});
  U32 heartbeat_response_delay_ms = key("heartbeat_response_delay_ms", 5U,
      {.help = "how long a reliable reader waits before it answers a heartbeat", .most = hour_ms});
  U32 positive_acks_off_ms = key("positive_acks_off_ms", 0U,
      {.help = "0: readers acknowledge; else they only ask for what they miss, and a writer takes what is that many ms old "
               "for received", .most = hour_ms});
  std::optional<U32> max_samples = key<U32>("max_samples",
      {.help = "messages a keep-all history holds, of each publisher: when they are not acknowledged publish waits, as at a "
               "high-water mark", .least = 1, .most = 10'000'000, .otherwise = "what fits in 256 MiB, 4 to 5000"});
  std::optional<U32> allocated_samples = key<U32>("allocated_samples",
      {.help = "messages a history has memory for from the start", .most = 10'000'000, .otherwise = "at most 100"});
  std::optional<U32> extra_samples = key<U32>("extra_samples",
      {.help = "messages a writer's pool holds beyond its history", .least = 1, .most = 10'000,
       .otherwise = "1; of streams and keep-all under data-sharing 34 or fewer"});
  U32 history_memory = key("history_memory", 1U,  // its place among Fast DDS's own
      {.help = "how histories get memory for messages; data-sharing knows the first two",
       .choices = {"preallocated", "preallocated-with-realloc", "dynamic", "dynamic-reusable"}});
  U32 send_buffers = key("send_buffers", 0U,
      {.help = "buffers a participant makes to build packets in; 0: as many as it has threads", .most = 10'000});
  bool send_buffers_dynamic = key("send_buffers_dynamic", false,
      {.help = "more send buffers are made when all are in use; else publish waits"});
  std::string config = key("config", std::string(),
      {.help = "profiles of your own in XML, of which the default ones count: see --config", .type = NativeType::file});
  std::map<std::string, std::string> properties = keys("property.*",
      {.help = "a property of the participant and of every writer and reader; Fast DDS does not say whether it knows it"});
};
// clang-format on

struct Options : Native {
  static constexpr std::int32_t most_samples_per_read = 32;  ///< Fast DDS's default of max_samples_per_read

  const Settings settings;
  const bool as_it_is;                ///< what is not asked for by a factor stays as Fast DDS has it
  const bool secure;                  ///< the trial has security
  const bool streams;                 ///< also of requests and replies
  const std::uint64_t sample;         ///< bytes of a message with its headers
  std::uint32_t publishers = 1;       ///< of the topic that has most of them
  std::uint32_t subscribers = 1;      ///< likewise
  bool sends = false;                 ///< this process does
  bool receives = false;              ///< likewise
  bool composed = false;              ///< both ends of a topic are in this process, one of several
  std::uint32_t segment = 512 * kib;  ///< at least Fast DDS's default
  std::uint32_t queue = 512;          ///< likewise
  std::uint32_t socket_buffer = 0;    ///< 0: the system's
  std::uint32_t writer_samples = 0;   ///< of a keep-all history
  std::uint32_t reader_samples = 0;   ///< likewise
  std::int32_t samples_per_read = most_samples_per_read;
  std::chrono::milliseconds linger{0};  ///< how long readers stay at the end

  explicit Options(const Settings& trial)
      : Native(kit::read_native<Native>("fastdds", trial)),
        settings(trial),
        as_it_is(trial.comes_as_it_is()),
        secure(trial.security != Security::none),
        streams(trial.pattern != Pattern::ping_pong),
        sample(trial.message_bytes + 512) {
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
    // A writer of 2.9 can deadlock when a reader goes while it resends to it; what is acknowledged is not resent.
    if (as_it_is && streams && settings.reliability == Reliability::reliable) linger = std::chrono::milliseconds(300);
    if (as_it_is) return;
    const bool fragmented = sample > max_message_size;
    if (!heartbeat_piggyback) heartbeat_piggyback = !over("tcp") || !fragmented;
    // Over UDP the fragments that a heartbeat has asked for may still be on their way when the next one asks again. Over TCP
    // each answer to a heartbeat may be the one that stops two processes which are sending to each other (README.md, Known traps).
    const bool rarely = fragmented && (over("udp") || (over("tcp") && sends && receives));
    if (!heartbeat_period_ms) heartbeat_period_ms = streams && !rarely ? 10 : 100;
    if (streams && settings.reliability == Reliability::reliable) {
      linger = std::chrono::milliseconds(std::min(2 * *heartbeat_period_ms + heartbeat_response_delay_ms + 10, 300U));
    }
  }

  [[nodiscard]] bool over(const char* transport) const { return settings.transport == transport; }
  [[nodiscard]] bool flow_controlled() const { return flow_bytes_per_period || flow_period_ms || flow_scheduler; }
  [[nodiscard]] std::uint64_t writer_messages() const { return settings.depth.value_or(writer_samples); }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (!config.empty()) {
      all.emplace_back("config: laid over its default profiles are the domain, the interface of its transports" +
                       std::string(as_it_is ? "" : ", the transport") +
                       ", the security and the qualities of service of the suite");
    }
    if (composed && !secure && !over("intraprocess") && !as_it_is)
      all.push_back("between nodes of one process: intraprocess delivery, as Fast DDS comes");
    const std::uint64_t granted = kit::kernel_limit("net/core/rmem_max");
    if (over("udp") && granted != 0 && socket_buffer > granted) {
      all.push_back("the kernel grants receive buffers of " + text(granted) + " bytes where " + text(socket_buffer) +
                    " were asked for: what does not fit is dropped and, if reliable, sent again; " +
                    "sysctl -w net.core.rmem_max=" + text(socket_buffer));
    }
    if (!settings.depth) {
      all.push_back("keep-all is bounded to " + text(writer_samples) + " messages at a writer and " +
                    text(reader_samples) + " at a reader");
    } else if (publishers > 1) {
      all.push_back("the depth counts per publisher: a reader that has " + text(publishers) + " of them keeps " +
                    text(writer_messages() * publishers) + " messages");
    }
    return all;
  }

 private:
  [[nodiscard]] static std::string text(std::uint64_t number) { return std::to_string(number); }
  static void demand(bool fulfilled, const std::string& otherwise, const std::string& advice) {
    if (!fulfilled) throw AdapterError("fastdds: " + otherwise, advice);
  }

  /// What neither the transports nor the table tell.
  void refuse() const {
    demand(asynchronous || !flow_controlled(), "native: flow_* has no effect on synchronous publishing",
           "give publish_mode=asynchronous too");
    demand(!settings.depth || !max_samples,
           "native: max_samples bounds a keep-all history, and this trial's has a depth",
           "leave it out, or choose keep-all");
    // Fast DDS 2.9 aborts, or never takes a full history's messages for received.
    demand(settings.depth || positive_acks_off_ms == 0,
           "native: positive_acks_off_ms: a keep-all history is emptied by acknowledgements",
           "choose a history depth, or leave the key out");
    demand(!over("data-sharing") || history_memory <= 1,
           "native: history_memory: data-sharing needs memory of a size that is known before",
           "choose preallocated or preallocated-with-realloc, or another transport");
    for (const auto& [name, value] : properties) {
      demand(!name.starts_with(dds_security::prefix), "native: property." + name + " is set by the factor 'security'",
             "choose it with security and --certs");
    }
    demand(!secure || !composed || !over("tcp"), "tcp: nodes of one process would meet past what protects the trial",
           "give each a process of its own, or take another transport");
    // The ports of RTPS: 250 a domain, of which each participant takes two, from the eleventh on.
    const unsigned workers = settings.one_process ? 1 : settings.workers;
    demand(over("tcp") || 7400 + 250 * settings.domain + 11 + 2 * (static_cast<int>(workers) - 1) <= 65'535,
           "domain " + std::to_string(settings.domain) + " has no ports for " + text(workers) + " processes",
           "choose a lower domain");
  }

  /// Keep-all without a bound is the machine's memory: all writers of a topic together hold as many messages as fit in
  /// 256 MiB, and so do all its readers.
  void size_histories() {
    constexpr std::uint64_t default_samples = 5000;
    const std::uint64_t writers = publishers;
    const bool shared = over("data-sharing");
    const auto fitting = [this](std::uint64_t ends, std::uint64_t of) {
      const std::uint64_t fit = std::uint64_t{256} * mib / (ends * sample);
      return static_cast<std::uint32_t>(std::clamp(fit, 4 * of, default_samples * of));
    };
    writer_samples = max_samples.value_or(fitting(writers, 1));
    // A data-sharing reader keeps no messages of its own, and 2.9's listener can spin for ever, beyond the reader's end,
    // on one that a full history refused. One within the process shares the writer's memory, and what it refused may not
    // be sent again for seconds.
    const bool holds_all = max_samples || shared || as_it_is || over("intraprocess");
    reader_samples = holds_all ? writer_samples * publishers : fitting(subscribers, writers);
    const std::uint32_t held = settings.depth.value_or(std::min(writer_samples, reader_samples));
    if (!allocated_samples) allocated_samples = std::min({writer_samples, reader_samples, held, 100U});
    demand(*allocated_samples <= held,
           "native: allocated_samples: " + text(*allocated_samples) + " messages are more than the history holds, " +
               text(held),
           "lower it, or deepen the history");
    // A reader acknowledges a message of a data-sharing writer when it takes it, before it is visited. What a read
    // brings must therefore stay untouched while that many others are written.
    if (shared) {
      samples_per_read =
          static_cast<std::int32_t>(std::clamp<std::uint64_t>(32ULL * mib / sample, 1, most_samples_per_read));
    }
    const bool guarded = shared && (!settings.depth || streams);
    if (!extra_samples) extra_samples = guarded ? static_cast<std::uint32_t>(samples_per_read) + 2 : 1;
  }

  /// What waits between a writer and its readers is dropped where it does not fit, and the reliable resend it one
  /// heartbeat later: a stream's whole history has to fit, as far as that is not much memory.
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
      // Here the transport carries discovery and acknowledgements only: of every message one by each reader.
      at_least(segment, std::min(messages * publishers * 512, most_memory));
      at_least(queue, std::min(messages * std::max(publishers, subscribers), most_queued));
    } else if (over("udp")) {
      if (sample > max_message_size) at_least(socket_buffer, 4 * sample);
      const std::uint64_t history =
          std::min(messages * publishers * (sample + fragments * 768), std::uint64_t{4} * mib);
      if (streams && history > 212'992) at_least(socket_buffer, history);  // the kernel's default
    }
    segment = shm_segment_size.value_or(segment);
    queue = shm_port_queue_capacity.value_or(queue);
    socket_buffer = socket_buffer_bytes.value_or(socket_buffer);
  }

  void check_shared_memory() const {
    const std::uint64_t pool = over("data-sharing") ? (writer_messages() + *extra_samples) * sample : 0;
    demand(pool <= 4095ULL * mib,
           "data-sharing: a history of " + text(pool) + " bytes is beyond the 4 GiB of Fast DDS's pool",
           "lower the depth or the size");
    if (pool == 0 && !over("shm")) return;
    kit::require_shared_memory(segment + pool, "fastdds: " + settings.transport + ": the messages of each process");
  }
};

}  // namespace middlemark::fastdds
