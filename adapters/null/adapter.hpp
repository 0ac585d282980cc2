// An adapter with scripted faults: it loses, duplicates, reorders, delays and damages messages, stalls, hangs and crashes.
// It tests Middlemark itself.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/pinned.hpp>

#include "exchange.hpp"
#include "publisher.hpp"
#include "queue.hpp"
#include "route.hpp"
#include "script.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Null : kit::Pinned {
 public:
  using Publisher = null::Publisher;
  using Subscriber = null::Subscriber;

  explicit Null(const Settings& settings) : settings_(settings), script_(null::Script::parse(settings)) {
    if (script_.fail.contains("open"))
      throw AdapterError("null: refused to open, as its script says", "change the script");
    if (script_.fail.contains("open-crash")) std::abort();
    if (script_.fail.contains("open-hang")) null::pause_for_ever();
  }
  ~Null() {
    if (script_.fail.contains("close-crash")) std::abort();
    if (script_.fail.contains("close-hang")) null::pause_for_ever();
  }

  [[nodiscard]] static Description describe() {
    const Transport memory{.name = "memory",
                           .carrier = "shared-memory",
                           .segments = {"middlemark-null.*"},
                           .patterns = every_pattern,
                           .participants_per_process = most_participants,
                           .discovery_by = "both ends open a file of a known name",
                           .max_bytes = std::size_t{1} << 20,
                           .max_bytes_advice = "it tests the bench; a larger message tests nothing more",
                           .max_depth = 1000,
                           .varying_sizes = true};
    Transport mislabelled = memory;  // claims udp but uses shared memory, to test the check of the actual transport
    mislabelled.name = "mislabelled";
    mislabelled.carrier = "udp";
    return {.name = "null",
            .title = "Scripted memory queue (tests the bench)",
            .version = "1",
            .licence = "Apache-2.0",
            .bench_only = true,
            .transports = {memory, mislabelled},
            .residue = {"/dev/shm/middlemark-null.{scope}_*"},
            .native = kit::native_table<null::Script>()};
  }

  Publisher publisher(const Topic& topic, unsigned index) { return {settings_, script_, route(topic), index}; }
  Subscriber subscriber(const Topic& topic, unsigned index) { return {script_, route(topic), index}; }
  null::Client client(const Topic& service, unsigned index) {
    return {settings_, script_, service, index, slots(service)};
  }
  null::Server server(const Topic& service, unsigned /*index*/) {
    return {settings_, script_, service, slots(service)};
  }

  [[nodiscard]] std::string refusals() const {
    return script_.fail.contains("match") ? "no subscriber is accepted, as its script says" : "";
  }

 private:
  [[nodiscard]] null::Route route(const Topic& topic) const {
    null::Route route{topic, "", {}, {}, slots(topic)};
    if (settings_.pattern == Pattern::stream) {
      route.role = "publisher";
      const TopicRequest& asked = settings_.topics[number_at_the_end(topic.name)];
      route.publishers = asked.publishers;
      route.subscribers = asked.subscribers;
    } else if (settings_.pattern == Pattern::crowd) {
      route.role = "participant";
    } else {
      route.role = topic.name.substr(topic.name.rfind('_') + 1);  // ping or pong, as the core names its topics
    }
    return route;
  }

  static unsigned number_at_the_end(const std::string& name) noexcept {
    unsigned number = 0;
    std::from_chars(name.data() + name.find_last_not_of("0123456789") + 1, name.data() + name.size(), number);
    return number;
  }

  [[nodiscard]] std::uint64_t slots(const Topic& topic) const noexcept {
    constexpr std::uint64_t usual = 16;
    constexpr std::uint64_t keep_all = 64;
    constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;  // for all queues of the trial
    std::uint64_t queues = 1;
    for (const Topic& endpoint : settings_.endpoints)
      queues += std::uint64_t{endpoint.publishers} * endpoint.subscribers;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, most_bytes / queues / null::Queue::slot_bytes(topic.message_bytes));
    return std::min(script_.slots.value_or(std::max<std::uint64_t>(usual, topic.depth.value_or(keep_all))), most);
  }

  const Settings settings_;
  const null::Script script_;
};

static_assert(fulfils_contract<Null>);

}  // namespace middlemark
