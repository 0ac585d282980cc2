// The raw transport for shared memory: processes on one machine exchange messages without a middleware.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>

#include "publisher.hpp"
#include "ring.hpp"
#include "subscriber.hpp"

namespace middlemark {

class SharedMemory {
 public:
  using Publisher = shm::Publisher;
  using Subscriber = shm::Subscriber;

  struct Options : kit::NativeKeys {
    using NativeKeys::NativeKeys;
    std::uint64_t planted_delay_ns =
        key<std::uint64_t>("planted_delay_ns", 0,
                           {.help = "for `middlemark selftest`: every publish first spins for this number of ns",
                            .least = 1,
                            .most = 1'000'000'000,
                            .otherwise = "no delay"});
  };

  explicit SharedMemory(const Settings& settings)
      : settings_(settings), options_(kit::read_native<Options>("shm", settings)) {}

  [[nodiscard]] static Description describe() {
    return {.name = "shm",
            .title = "Shared memory ring",
            .version = kit::kernel_release(),
            .licence = "Apache-2.0",
            .is_raw_transport = true,
            .transports = {{.name = "shm",
                            .carrier = "shared-memory",
                            .segments = {"middlemark.*"},
                            .receive = {Reception::poll, Reception::block},
                            .loan = {false, true},
                            .hands_over = {true},
                            .varying_sizes = true}},
            .residue = {"/dev/shm/middlemark.{scope}_*"},
            .native = kit::native_table<Options>()};
  }

  Publisher publisher(const Topic& topic, unsigned index) {
    std::vector<std::string> doorbells;
    for (unsigned i = 0; i < topic.subscribers; ++i) doorbells.push_back(doorbell_name(topic, i));
    return Publisher(settings_, topic, layout(topic), ring_name(topic, index), doorbells, options_.planted_delay_ns);
  }

  Subscriber subscriber(const Topic& topic, unsigned index) {
    std::vector<std::string> rings;
    for (unsigned i = 0; i < topic.publishers; ++i) rings.push_back(ring_name(topic, i));
    return Subscriber(settings_, topic, layout(topic), rings, doorbell_name(topic, index), index);
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (least_depth_ >= asked_depth_) return {};
    return {"shm: the depth of " + std::to_string(asked_depth_) + " was reduced to " + std::to_string(least_depth_) +
            " messages: the rings of a trial take at most " + std::to_string(most_bytes >> 20) + " MiB"};
  }

 private:
  static std::string ring_name(const Topic& topic, unsigned publisher) {
    return "middlemark." + topic.name + ".ring" + std::to_string(publisher);
  }
  static std::string doorbell_name(const Topic& topic, unsigned subscriber) {
    return "middlemark." + topic.name + ".bell" + std::to_string(subscriber);
  }
  [[nodiscard]] shm::RingLayout layout(const Topic& topic) {
    const bool stream = settings_.pattern == Pattern::stream;
    const bool waits = stream && topic.reliability == Reliability::reliable;
    const std::size_t depth = topic.depth.value_or(waits ? keep_all_waiting_depth : keep_all_depth);
    std::size_t rings = 0;
    for (const Topic& endpoint : settings_.endpoints) rings += endpoint.publishers;
    const shm::RingLayout layout =
        shm::RingLayout::of(topic.message_bytes, topic.subscribers, depth, stream ? stream_room() : ping_pong_room,
                            most_bytes / std::max<std::size_t>(rings, 1), topic.varies);
    if (topic.depth && layout.depth() < *topic.depth && layout.depth() < least_depth_) {
      least_depth_ = layout.depth();
      asked_depth_ = *topic.depth;
    }
    return layout;
  }

  [[nodiscard]] const shm::RingLayout::Roomy& stream_room() const noexcept {
    return settings_.reception == Reception::poll ? polled_room : slept_on_room;
  }

  static constexpr std::size_t most_bytes = std::size_t{1} << 29;  // of all rings of a trial
  // With at least two slots, the publisher reads the subscribers' cursors only once per round of the ring. Each reading
  // costs a transfer between processors.
  static constexpr shm::RingLayout::Roomy ping_pong_room{.bytes = std::size_t{8} << 10, .least = 2};
  // Messages of 64 B: a ring of 16 KiB, which fits a first-level cache of 32 KiB, is about six times as fast as a ring of
  // 32 KiB or more. Messages of 64 KiB: four slots are 2.5 times as fast as two, because the publisher can write one slot
  // while another is read.
  static constexpr shm::RingLayout::Roomy polled_room{.bytes = std::size_t{16} << 10, .least = 4};
  // A sleeping subscriber is woken once per ring instead of once per message. That is 17 times as fast as a ring of 16 slots
  // with messages of 1 KiB, and twice as fast with messages of 64 KiB.
  static constexpr shm::RingLayout::Roomy slept_on_room{.bytes = std::size_t{1280} << 10, .least = 8};
  static constexpr std::size_t keep_all_depth = 63;  // 64 slots, one of which is being written
  // A small ring is enough, because a reliable publisher waits for room. A large ring would not fit into the caches.
  static constexpr std::size_t keep_all_waiting_depth = 7;

  const Settings settings_;
  const Options options_;
  std::size_t least_depth_ = static_cast<std::size_t>(-1);  // the smallest depth that was reduced
  std::size_t asked_depth_ = 0;                             // the requested depth of the same ring
};

static_assert(fulfils_contract<SharedMemory>);

}  // namespace middlemark
