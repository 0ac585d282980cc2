// The native settings (iceoryx's own options with their names), the lengths of the queues, and a pool with enough
// chunks for all queues.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <iceoryx_posh/iceoryx_posh_types.hpp>
#include <iceoryx_posh/mepoo/chunk_header.hpp>
#include <iceoryx_posh/mepoo/chunk_settings.hpp>
#include <iceoryx_posh/mepoo/mepoo_config.hpp>
#include <iceoryx_posh/popo/rpc_header.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

inline const std::vector<Pattern> topics_only{Pattern::ping_pong, Pattern::stream, Pattern::crowd};

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::uint64_t history =
      key<std::uint64_t>("historyCapacity", 0,
                         {.help = "messages that a publisher keeps for late subscribers; each keeps a chunk in use",
                          .least = 0,
                          .most = iox::MAX_PUBLISHER_HISTORY,
                          .patterns = topics_only});
  std::optional<std::uint64_t> queue = key<std::uint64_t>(
      "queueCapacity",
      {.help = "messages that may wait for a subscriber if the history is keep-all (otherwise the depth)",
       .least = 1,
       .most = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY,
       .patterns = topics_only,
       .otherwise = "256, or as many as fit in 256 MiB"});
  std::optional<std::uint64_t> requests =
      key<std::uint64_t>("requestQueueCapacity", {.help = "requests that may wait for the server",
                                                  .least = 1,
                                                  .most = iox::MAX_REQUEST_QUEUE_CAPACITY,
                                                  .patterns = {Pattern::request_reply},
                                                  .otherwise = "16 per client"});
  std::uint64_t responses = key<std::uint64_t>("responseQueueCapacity", iox::MAX_RESPONSE_QUEUE_CAPACITY,
                                               {.help = "responses that may wait for a client",
                                                .least = 1,
                                                .most = iox::MAX_RESPONSE_QUEUE_CAPACITY,
                                                .patterns = {Pattern::request_reply}});
  int alignment_bits =
      key<int>("userPayloadAlignment", std::bit_width(iox::CHUNK_DEFAULT_USER_PAYLOAD_ALIGNMENT) - 1,
               {.help = "alignment of a message in its chunk",
                .choices = {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096"}});
};

/// Returns the pools that RouDi has without a configuration, by ascending chunk size. The sizes do not include a
/// chunk's header.
[[nodiscard]] inline std::vector<Pool> own_pools() {
  std::vector<Pool> pools;
  for (const auto& pool : iox::mepoo::MePooConfig().setDefaults().m_mempoolConfig) {
    pools.push_back({pool.m_size, pool.m_chunkCount});
  }
  return pools;
}

/// The lengths of iceoryx's queues. A queue contains references; the messages themselves are in the chunks of the pool.
struct Options : Native {
  std::uint32_t alignment;
  std::uint64_t chunk_bytes = 0;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("iceoryx", settings)),
        alignment(1U << alignment_bits),
        endpoints_(settings.endpoints),
        topics_(settings.pattern == Pattern::crowd ? (std::uint64_t{settings.participants} + 1) * settings.topics_each
                                                   : endpoints_.size()) {
    if (queue && settings.depth) {
      throw AdapterError("iceoryx: native.queueCapacity is set by the factor 'depth'",
                         "choose depth = \"all\", or leave out queueCapacity");
    }
    const bool calls = settings.calls_service();
    const std::uint32_t header =
        calls ? std::max(sizeof(iox::popo::RequestHeader), sizeof(iox::popo::ResponseHeader)) : 0;
    const std::uint32_t header_alignment = calls ? alignof(iox::popo::RequestHeader) : 1;
    const auto chunk = iox::mepoo::ChunkSettings::create(static_cast<std::uint32_t>(settings.message_bytes), alignment,
                                                         header, header_alignment);
    if (chunk.has_error()) {
      throw AdapterError("iceoryx: a message of " + std::to_string(settings.message_bytes) +
                         " bytes does not fit into a chunk");
    }
    chunk_bytes = aligned_chunk(chunk.value().requiredChunkSize());
    for (const Topic& topic : endpoints_) receivers_ += topic.subscribers + (topic.service ? topic.publishers : 0);
    receivers_ = of_all(receivers_);
    if (settings.is_default_configuration())
      choose_own_pool(chunk.value().requiredChunkSize() - sizeof(iox::mepoo::ChunkHeader));
    if (!calls) note_queues(settings.reliability == Reliability::reliable);
  }

  /// Returns the length of a subscriber's queue that the trial requests, in messages of all publishers of the topic
  /// together.
  [[nodiscard]] std::uint64_t requested(const Topic& topic) const {
    return topic.capacity().value_or(queue.value_or(iox::MAX_SUBSCRIBER_QUEUE_CAPACITY));
  }
  /// Returns the number of messages that a subscriber queues. It may be less than requested(), because the number of
  /// chunks of a trial is limited.
  [[nodiscard]] std::uint64_t queued(const Topic& topic) const {
    const std::uint64_t bytes = topic.depth || queue ? most_bytes : unchosen_bytes;
    return std::min<std::uint64_t>(bounded(requested(topic), bytes), iox::MAX_SUBSCRIBER_QUEUE_CAPACITY);
  }

  /// Returns the length of a server's queue. The depth has no effect, because a client has one request in progress.
  /// Earlier requests for which it has stopped waiting may also be in the queue.
  [[nodiscard]] std::uint64_t queued_requests(const Topic& service) const {
    const std::uint64_t given_up = std::uint64_t{iox::MAX_RESPONSE_QUEUE_CAPACITY} * service.publishers;
    return std::min<std::uint64_t>(bounded(requests.value_or(given_up), unchosen_bytes),
                                   iox::MAX_REQUEST_QUEUE_CAPACITY);
  }
  [[nodiscard]] std::uint64_t queued_responses() const { return bounded(responses, unchosen_bytes); }

  [[nodiscard]] std::vector<Pool> pools() const {
    if (own_) return own_pools();
    std::uint64_t waiting = 0;
    for (const Topic& topic : endpoints_) {
      waiting += topic.service ? queued_requests(topic) + topic.publishers * queued_responses()
                               : topic.subscribers * queued(topic);
    }
    return {{chunk_bytes, in_hand() + of_all(waiting)}};
  }

  /// Returns the chunk size that this trial needs, in bytes. check_roudi() rejects a RouDi whose largest chunks are smaller.
  [[nodiscard]] std::uint64_t least_chunk_bytes() const { return own_ ? own_->chunk_bytes : chunk_bytes; }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t unchosen_bytes = std::uint64_t{256} << 20;

  /// Returns the number for all topics of the trial. `counted`: the number for the topics in endpoints_. A participant of
  /// a crowd knows only its own topics, and all topics of a crowd are alike.
  [[nodiscard]] std::uint64_t of_all(std::uint64_t counted) const noexcept {
    return endpoints_.empty() ? counted : counted * topics_ / endpoints_.size();
  }

  [[nodiscard]] std::uint64_t bounded(std::uint64_t wanted, std::uint64_t bytes) const noexcept {
    const std::uint64_t receivers = std::max<std::uint64_t>(receivers_, 1);
    if (own_) {
      const std::uint64_t free = own_->chunks - std::min(own_->chunks, in_hand());
      return std::min(wanted, std::max<std::uint64_t>(free / receivers, 1));
    }
    return std::min(wanted, std::max<std::uint64_t>(bytes / receivers / chunk_bytes, 2));
  }

  /// Returns the number of chunks that publishers and subscribers may use outside of queues.
  [[nodiscard]] std::uint64_t in_hand() const noexcept {
    const std::uint64_t sender =
        3;  // the chunk being filled, the chunk sent last, and a chunk that a full queue discards
    const std::uint64_t receiver = 2;  // the chunk being visited, and a chunk that is arriving
    std::uint64_t chunks = 0;
    for (const Topic& topic : endpoints_) {
      chunks +=
          topic.publishers * (sender + std::max<std::uint64_t>(history, topic.history)) + topic.subscribers * receiver;
      if (topic.service) chunks += topic.subscribers * (sender + history) + topic.publishers * receiver;
    }
    return of_all(chunks);
  }

  /// Chooses the pool for messages of this size. If this pool is empty, iceoryx does not use the larger chunks of other
  /// pools.
  void choose_own_pool(std::uint64_t bytes) {
    const std::vector<Pool> all = own_pools();
    const auto found = std::ranges::find_if(all, [bytes](const Pool& pool) { return pool.chunk_bytes >= bytes; });
    if (found == all.end()) {
      throw AdapterError("iceoryx: RouDi's own pools have no chunk for " + std::to_string(bytes) +
                             " bytes, the message with its header",
                         "choose the transport shm");
    }
    own_ = *found;
  }

  void note_queues(bool reliable) {
    const auto most = std::ranges::max_element(endpoints_, {}, &Topic::publishers);
    if (most == endpoints_.end()) return;
    const std::string got = std::to_string(queued(*most));
    if (!most->depth) {
      notes.push_back("keep-all is bounded to " + got + " messages waiting for a subscriber: when its queue is full, " +
                      (reliable ? "a reliable publisher waits" : "the oldest message is lost"));
    } else if (queued(*most) < requested(*most)) {
      notes.push_back(
          "a subscriber queues " + got + " messages, although the depth of " + std::to_string(*most->depth) +
          " for each publisher requests " + std::to_string(requested(*most)) +
          (own_ ? ": RouDi's own pool has no more chunks of this size" : ": the chunks of a trial use at most 1 GiB"));
    }
  }

  std::vector<Topic> endpoints_;
  std::uint64_t topics_;         // number of topics and services of the trial
  std::uint64_t receivers_ = 0;  // number of queues that contain chunks
  std::optional<Pool> own_;      // RouDi's own pool for these messages; only with the default configuration
};

}  // namespace middlemark::iceoryx
