// How many messages may wait at each end, and the pool of chunks that holds all of them at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <iceoryx_posh/mepoo/chunk_settings.hpp>
#include <iceoryx_posh/popo/rpc_header.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/settings.hpp>

#include "native.hpp"

namespace middlemark::iceoryx {

/// The capacities of the trial's queues. iceoryx queues references: what costs memory are the chunks they hold.
class Queues {
 public:
  Queues(const Settings& settings, const Native& native) : settings_(settings), native_(native) {
    const bool calls = settings.pattern == Pattern::request_reply;
    const std::uint32_t header =
        calls ? std::max(sizeof(iox::popo::RequestHeader), sizeof(iox::popo::ResponseHeader)) : 0;
    const std::uint32_t header_alignment = calls ? alignof(iox::popo::RequestHeader) : 1;
    const auto chunk = iox::mepoo::ChunkSettings::create(static_cast<std::uint32_t>(settings.message_bytes),
                                                         native.alignment(), header, header_alignment);
    if (chunk.has_error()) {
      throw AdapterError("iceoryx: a message of " + std::to_string(settings.message_bytes) + " bytes has no chunk");
    }
    chunk_bytes_ = aligned_chunk(chunk.value().requiredChunkSize());
  }

  [[nodiscard]] std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }

  /// Messages that a subscriber asks to queue, of all the `publishers` of its topic.
  [[nodiscard]] std::uint64_t asked(std::uint64_t publishers) const {
    if (settings_.depth) return *settings_.depth * publishers;
    return native_.get("queueCapacity").value_or(iox::MAX_SUBSCRIBER_QUEUE_CAPACITY);
  }
  /// And those that it gets: the chunks of the trial keep to a bound.
  [[nodiscard]] std::uint64_t subscriber(std::uint64_t publishers) const {
    const bool chosen = settings_.depth || native_.get("queueCapacity");
    return std::min<std::uint64_t>(bounded(asked(publishers), chosen ? most_bytes : unchosen_bytes),
                                   iox::MAX_SUBSCRIBER_QUEUE_CAPACITY);
  }

  /// A client has one request under way, and perhaps some that it has given up on: a depth says nothing here.
  [[nodiscard]] std::uint64_t requests() const {
    const std::uint64_t wanted = native_.get("requestQueueCapacity").value_or(given_up * settings_.publishers);
    return std::min<std::uint64_t>(bounded(wanted, unchosen_bytes), iox::MAX_REQUEST_QUEUE_CAPACITY);
  }
  [[nodiscard]] std::uint64_t responses() const {
    return bounded(native_.get("responseQueueCapacity").value_or(given_up), unchosen_bytes);
  }

  /// Of the subscriber with the most: a stream's, or the ping's, which every pong writes to.
  [[nodiscard]] std::uint64_t most_publishers() const noexcept {
    if (settings_.pattern == Pattern::ping_pong) return settings_.subscribers;
    return (settings_.publishers + settings_.topics - 1) / settings_.topics;
  }

  [[nodiscard]] Pool pool() const {
    const std::uint64_t publishers = settings_.publishers;
    const std::uint64_t subscribers = settings_.subscribers;
    Pool pool{chunk_bytes_, 0};
    switch (settings_.pattern) {
      case Pattern::ping_pong:  // one topic there, one back
        pool.chunks = (1 + subscribers) * sender() + subscribers * receiver(subscriber(1)) +
                      receiver(subscriber(most_publishers()));
        break;
      case Pattern::stream:
        pool.chunks = publishers * sender() + subscribers * receiver(subscriber(most_publishers()));
        break;
      case Pattern::request_reply:
        pool.chunks = (publishers + 1) * sender() + receiver(requests()) + publishers * receiver(responses());
        break;
    }
    return pool;
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t unchosen_bytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t given_up = iox::MAX_RESPONSE_QUEUE_CAPACITY;

  /// The chunk being filled, the one sent last, one that a full queue pushes out, and the history.
  [[nodiscard]] std::uint64_t sender() const { return 3 + native_.history_capacity(); }
  /// The queue, the one being visited, and one on its way.
  [[nodiscard]] static std::uint64_t receiver(std::uint64_t queue) noexcept { return queue + 2; }

  [[nodiscard]] std::uint64_t receivers() const noexcept {
    const std::uint64_t publishers = settings_.publishers;
    const std::uint64_t subscribers = settings_.subscribers;
    return settings_.pattern == Pattern::stream ? subscribers : std::max(publishers, subscribers) + 1;
  }
  [[nodiscard]] std::uint64_t bounded(std::uint64_t wanted, std::uint64_t bytes) const noexcept {
    return std::min(wanted, std::max<std::uint64_t>(bytes / receivers() / chunk_bytes_, 2));
  }

  Settings settings_;
  Native native_;
  std::uint64_t chunk_bytes_ = 0;
};

}  // namespace middlemark::iceoryx
