// Eclipse iceoryx, through its untyped C++ API. README.md lists which settings of iceoryx each setting of a trial sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <iceoryx_versions.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "crowd_limits.hpp"
#include "ends.hpp"
#include "options.hpp"
#include "own_settings.hpp"
#include "runtime.hpp"

namespace middlemark {

class Iceoryx {
 public:
  explicit Iceoryx(const Settings& settings)
      : settings_(settings), options_(settings), runtime_(settings, options_.least_chunk_bytes()) {}

  [[nodiscard]] static Description describe() {
    const kit::LoadedLibrary library =
        kit::loaded_library(reinterpret_cast<const void*>(&iox::runtime::PoshRuntime::initRuntime));
    return {.name = "iceoryx",
            .title = "Eclipse iceoryx",
            .version = library.version.empty() ? ICEORYX_LATEST_RELEASE_VERSION : library.version,
            .library = library.path,
            .licence = "Apache-2.0",
            .transports = {{.name = "shm",
                            .carrier = "shared-memory",
                            .segments = {iceoryx::data_segment()},
                            .patterns = every_pattern,
                            .discovery_by = iceoryx::discovery_by,
                            .loan = {true},  // iceoryx sends loaned chunks only
                            .hands_over = {true},
                            .max_depth = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY,
                            .companions = true,
                            .varying_sizes = true,
                            .services = true,
                            .max_history = iox::MAX_PUBLISHER_HISTORY},
                           {.name = default_configuration,
                            .carrier = "shared-memory",
                            .segments = {iceoryx::data_segment()},
                            .patterns = every_pattern,
                            .discovery_by = iceoryx::discovery_by,
                            .loan = {true},
                            .hands_over = {true},
                            .max_bytes = iceoryx::own_pools().back().chunk_bytes,
                            .max_bytes_advice =
                                "RouDi's own pools have no larger chunks; choose the transport shm (your own "
                                "RouDi needs a larger [[segment.mempool]])",
                            .max_depth = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY,
                            .companions = true,
                            .varying_sizes = true,
                            .services = true,
                            .max_history = iox::MAX_PUBLISHER_HISTORY}},
            .residue = iceoryx::residue(),
            .native = kit::native_table<iceoryx::Native>()};
  }

  static void check(const Settings& settings) {
    iceoryx::check_crowd(settings);
    iceoryx::Options{settings};
  }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return {iceoryx::roudi(settings, "iceoryx", iceoryx::Options(settings).pools(), describe().library)};
  }

  [[nodiscard]] iceoryx::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    iox::popo::PublisherOptions options;
    options.historyCapacity = std::max<std::uint64_t>(options_.history, topic.history);
    options.subscriberTooSlowPolicy = too_slow(topic);
    applied_.add(iceoryx::block_of(options));
    return {service(topic),
            options,
            chunk(topic),
            topic.subscribers,
            waits(topic) ? std::optional(settings_.write_timeout) : std::nullopt,
            settings_.pattern == Pattern::crowd ? 2U : 16U};
  }

  [[nodiscard]] iceoryx::Subscriber subscriber(const Topic& topic, unsigned /*index*/) {
    if (topic.depth && options_.requested(topic) > iox::MAX_SUBSCRIBER_QUEUE_CAPACITY) {
      throw AdapterError("iceoryx: " + topic.name + ": a depth of " + std::to_string(*topic.depth) + " for each of " +
                             std::to_string(topic.publishers) +
                             " publishers is more messages than iceoryx queues for a subscriber",
                         "at most " + std::to_string(iox::MAX_SUBSCRIBER_QUEUE_CAPACITY / topic.publishers));
    }
    iox::popo::SubscriberOptions options;
    options.queueCapacity = options_.queued(topic);
    options.queueFullPolicy = full(topic);
    options.historyRequest = std::min<std::uint64_t>(topic.history, options.queueCapacity);
    applied_.add(iceoryx::block_of(options));
    return {service(topic), options, settings_.reception};
  }

  [[nodiscard]] iceoryx::Client client(const Topic& topic, unsigned /*index*/) {
    iox::popo::ClientOptions options;
    options.responseQueueCapacity = options_.queued_responses();
    options.responseQueueFullPolicy = full(topic);
    options.serverTooSlowPolicy = too_slow(topic);
    applied_.add(iceoryx::block_of(options));
    return {service(topic), options, settings_.reception, chunk(topic)};
  }

  [[nodiscard]] iceoryx::Server server(const Topic& topic, unsigned /*index*/) {
    iox::popo::ServerOptions options;
    options.requestQueueCapacity = options_.queued_requests(topic);
    options.requestQueueFullPolicy = full(topic);
    options.clientTooSlowPolicy = too_slow(topic);
    applied_.add(iceoryx::block_of(options));
    return {service(topic), options, settings_.reception, chunk(topic)};
  }

  [[nodiscard]] OwnSettings own_settings() const {
    OwnSettings settings = applied_.settings(Language::cpp);
    const std::string roudi = kit::Rendezvous(settings_).find(iceoryx::roudi_toml("iceoryx")).value_or("");
    settings.text.insert(0, "// RouDi's configuration\n" + kit::commented(roudi));
    return settings;
  }
  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  [[nodiscard]] static bool waits(const Topic& topic) noexcept { return topic.reliability == Reliability::reliable; }
  [[nodiscard]] static iox::popo::ConsumerTooSlowPolicy too_slow(const Topic& topic) noexcept {
    return waits(topic) ? iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER
                        : iox::popo::ConsumerTooSlowPolicy::DISCARD_OLDEST_DATA;
  }
  [[nodiscard]] static iox::popo::QueueFullPolicy full(const Topic& topic) noexcept {
    return waits(topic) ? iox::popo::QueueFullPolicy::BLOCK_PRODUCER : iox::popo::QueueFullPolicy::DISCARD_OLDEST_DATA;
  }
  [[nodiscard]] iceoryx::Chunk chunk(const Topic& topic) const { return {topic.message_bytes, options_.alignment}; }
  [[nodiscard]] iox::capro::ServiceDescription service(const Topic& topic) const {
    return iceoryx::service_of(settings_, topic);
  }

  const Settings settings_;
  const iceoryx::Options options_;
  iceoryx::Runtime runtime_;
  kit::AppliedCode applied_;
};

static_assert(fulfils_contract<Iceoryx>);

}  // namespace middlemark
