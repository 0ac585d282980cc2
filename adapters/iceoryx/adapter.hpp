// Eclipse iceoryx, through its untyped C++ API. README.md says how each setting becomes one of the middleware's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <iceoryx_posh/runtime/posh_runtime.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "calls.hpp"
#include "native.hpp"
#include "publisher.hpp"
#include "queues.hpp"
#include "runtime.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Iceoryx {
 public:
  explicit Iceoryx(const Settings& settings)
      : settings_(settings), native_(settings), queues_(settings, native_), runtime_(settings, queues_.chunk_bytes()) {}

  [[nodiscard]] static Description describe() {
    const LoadedLibrary library =
        loaded_library(reinterpret_cast<const void*>(&iox::runtime::PoshRuntime::initRuntime));
    Description description;
    description.name = "iceoryx";
    description.title = "Eclipse iceoryx";
    description.version = library.version;
    description.library = library.path;
    description.licence = "Apache-2.0";
    description.request_reply = true;
    Transport shm;
    shm.name = "shm";
    shm.carrier = "shared-memory";
    shm.segments = {iceoryx::data_segment()};
    shm.loan = {true};  // there is no other way to send
    shm.max_depth = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY;
    shm.companions = true;
    description.transports = {shm};
    description.residue = iceoryx::roudi_residue();
    description.residue.emplace_back(iceoryx::Runtime::residue);
    for (const iceoryx::Key& key : iceoryx::keys) description.native[std::string(key.name)] = key.text;
    return description;
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    const iceoryx::Queues queues(settings, iceoryx::Native(settings));
    return {iceoryx::roudi(settings, "iceoryx", queues.pool())};
  }

  [[nodiscard]] iceoryx::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    iox::popo::PublisherOptions options;
    options.historyCapacity = native_.history_capacity();
    options.subscriberTooSlowPolicy = too_slow();
    return iceoryx::Publisher(service(topic), options, topic, native_.alignment(),
                              waits() ? std::optional(settings_.write_timeout) : std::nullopt);
  }

  [[nodiscard]] iceoryx::Subscriber subscriber(const Topic& topic, unsigned /*index*/) {
    if (settings_.depth && queues_.asked(topic.publishers) > iox::MAX_SUBSCRIBER_QUEUE_CAPACITY) {
      throw AdapterError("iceoryx: " + topic.name + ": a depth of " + std::to_string(*settings_.depth) + " for " +
                             std::to_string(topic.publishers) + " publishers each is more than iceoryx queues",
                         "at most " + std::to_string(iox::MAX_SUBSCRIBER_QUEUE_CAPACITY / topic.publishers));
    }
    iox::popo::SubscriberOptions options;
    options.queueCapacity = queues_.subscriber(topic.publishers);
    options.queueFullPolicy = full();
    return iceoryx::Subscriber(service(topic), options, settings_.reception);
  }

  [[nodiscard]] iceoryx::Client client(const Topic& topic, unsigned /*index*/) {
    iox::popo::ClientOptions options;
    options.responseQueueCapacity = queues_.responses();
    options.responseQueueFullPolicy = full();
    options.serverTooSlowPolicy = too_slow();
    return iceoryx::Client(service(topic), options, topic.message_bytes, native_.alignment(), settings_.reception);
  }

  [[nodiscard]] iceoryx::Server server(const Topic& topic, unsigned /*index*/) {
    iox::popo::ServerOptions options;
    options.requestQueueCapacity = queues_.requests();
    options.requestQueueFullPolicy = full();
    options.clientTooSlowPolicy = too_slow();
    return iceoryx::Server(service(topic), options, topic.message_bytes, native_.alignment(), settings_.reception);
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (settings_.pattern == Pattern::request_reply) return all;
    const std::uint64_t publishers = queues_.most_publishers();
    const std::uint64_t queued = queues_.subscriber(publishers);
    if (!settings_.depth) {
      all.push_back("keep-all is bounded to " + std::to_string(queued) +
                    " messages waiting for a subscriber: beyond, " +
                    (waits() ? "a reliable publisher is held up" : "best effort loses the oldest"));
    } else if (queued < queues_.asked(publishers)) {
      all.push_back("a subscriber queues " + std::to_string(queued) + " messages where the depth of " +
                    std::to_string(*settings_.depth) + " asks for " + std::to_string(queues_.asked(publishers)) +
                    ": the chunks of a trial keep to 1 GiB");
    }
    return all;
  }

 private:
  [[nodiscard]] bool waits() const noexcept { return settings_.reliability == Reliability::reliable; }
  [[nodiscard]] iox::popo::ConsumerTooSlowPolicy too_slow() const noexcept {
    return waits() ? iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER
                   : iox::popo::ConsumerTooSlowPolicy::DISCARD_OLDEST_DATA;
  }
  [[nodiscard]] iox::popo::QueueFullPolicy full() const noexcept {
    return waits() ? iox::popo::QueueFullPolicy::BLOCK_PRODUCER : iox::popo::QueueFullPolicy::DISCARD_OLDEST_DATA;
  }
  [[nodiscard]] iox::capro::ServiceDescription service(const Topic& topic) const {
    return iceoryx::service_of(settings_, topic);
  }

  const Settings settings_;
  const iceoryx::Native native_;
  const iceoryx::Queues queues_;
  iceoryx::Runtime runtime_;
};

static_assert(HasRequestReply<Iceoryx> && HasCompanions<Iceoryx> && HasNotes<Iceoryx>);
static_assert(HasLastError<iceoryx::Publisher> && HasLastError<iceoryx::Subscriber>);

}  // namespace middlemark
