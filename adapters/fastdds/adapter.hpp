// eProsima Fast DDS behind the contract of core/adapter.hpp. README.md says how each setting maps to Fast DDS's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "bytes_type.hpp"
#include "endpoint_qos.hpp"
#include "limits.hpp"
#include "options.hpp"
#include "participant.hpp"
#include "publisher.hpp"
#include "readers.hpp"
#include "return_code.hpp"
#include "subscriber.hpp"
#include "version.hpp"

namespace middlemark {

class FastDds {
 public:
  static Description describe() {
    const LoadedLibrary library =
        loaded_library(reinterpret_cast<const void*>(&fastdds::dds::DomainParticipantFactory::get_instance));
    Description description;
    description.name = "fastdds";
    description.title = "eProsima Fast DDS";
    description.version = library.version;
    description.library = library.path;
    description.licence = "Apache-2.0";
    description.own_threads = true;
    description.residue = {std::string("/dev/shm/") + fastdds::shm_files + "*",
                           std::string("/dev/shm/sem.") + fastdds::shm_files + "*", "/dev/shm/fast_datasharing_*"};
    const auto add = [&description](fastdds::Carrier carrier, std::string moved, std::vector<std::string> segments,
                                    std::vector<int> processes) {
      Transport transport;
      transport.name = fastdds::name_of(carrier);
      transport.carrier = std::move(moved);
      transport.segments = std::move(segments);
      transport.processes = std::move(processes);
      transport.loan = {false, true};
      description.transports.push_back(std::move(transport));
    };
    add(fastdds::Carrier::shm, "shared-memory", {std::string(fastdds::shm_files) + "*"}, {1, 2});
    add(fastdds::Carrier::data_sharing, "shared-memory", {"fast_datasharing_*"}, {1, 2});
    add(fastdds::Carrier::intraprocess, "process-memory", {}, {1});
    add(fastdds::Carrier::udp, "udp", {}, {1, 2});
    add(fastdds::Carrier::tcp, "tcp", {}, {2});
    for (const fastdds::Key& key : fastdds::keys()) description.native.emplace(key.name, key.text);
    description.native.emplace(
        std::string(fastdds::property_prefix) + "*",
        "a property of Fast DDS's, given to the participant and to every writer and reader; Fast "
        "DDS does not say whether it knows it");
    return description;
  }

  explicit FastDds(const Settings& settings) : settings_(settings), options_(settings) {
    try {
      open();
    } catch (...) {
      close();  // a participant that is left behind leaves its shared memory behind
      throw;
    }
  }
  ~FastDds() { close(); }
  FastDds(const FastDds&) = delete;
  FastDds& operator=(const FastDds&) = delete;

  fastdds::FastDdsPublisher publisher(const Topic& topic, unsigned /*index*/) {
    return {*publisher_, topic_of(topic), fastdds::writer_qos(settings_, options_), topic, settings_, readers_};
  }

  fastdds::FastDdsSubscriber subscriber(const Topic& topic, unsigned /*index*/) {
    const bool overwritten = options_.carrier == fastdds::Carrier::data_sharing && settings_.depth.has_value();
    return {*subscriber_,
            topic_of(topic),
            fastdds::reader_qos(settings_, options_, topic.publishers),
            topic,
            settings_.reception,
            options_,
            overwritten,
            readers_};
  }

  [[nodiscard]] std::vector<std::string> notes() const { return fastdds::notes(settings_, options_); }

 private:
  void open() {
    fastdds::check_shared_memory(settings_, options_);
    fastdds::isolate(options_.carrier);
    std::optional<fastdds::TcpPlace> place;
    if (options_.carrier == fastdds::Carrier::tcp) place.emplace(settings_, fastdds::address_of(settings_.interface));
    participant_ =
        factory().create_participant(static_cast<std::uint32_t>(settings_.domain),
                                     fastdds::participant_qos(settings_, options_, place ? &*place : nullptr));
    if (participant_ == nullptr) fail("the participant of domain " + std::to_string(settings_.domain));
    const fastdds::dds::TypeSupport type(new fastdds::BytesType(static_cast<std::uint32_t>(settings_.message_bytes)));
    if (!fastdds::succeeded(type.register_type(participant_))) fail("the type");
    publisher_ = participant_->create_publisher(fastdds::dds::PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(fastdds::dds::SUBSCRIBER_QOS_DEFAULT);
    if (publisher_ == nullptr || subscriber_ == nullptr) fail("publisher and subscriber");
    if (place) place->open();
  }

  static fastdds::dds::DomainParticipantFactory& factory() {
    return *fastdds::dds::DomainParticipantFactory::get_instance();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw AdapterError("fastdds: " + settings_.transport + ": cannot create " + what + ": " +
                       fastdds::Logged::errors());
  }

  fastdds::dds::Topic& topic_of(const Topic& asked) {
    fastdds::dds::Topic*& topic = topics_[asked.name];
    if (topic == nullptr) {
      topic = participant_->create_topic(asked.name,
                                         fastdds::BytesType::name_of(static_cast<std::uint32_t>(asked.message_bytes)),
                                         fastdds::dds::TOPIC_QOS_DEFAULT);
    }
    if (topic == nullptr) fail("the topic " + asked.name);
    return *topic;
  }

  void close() {
    if (participant_ == nullptr) return;
    if (options_.carrier == fastdds::Carrier::tcp) return;  // leave(), at the end of main(), ends the process with it
    participant_->delete_contained_entities();
    factory().delete_participant(participant_);
    participant_ = nullptr;
  }

  const Settings settings_;
  const fastdds::Options options_;
  fastdds::Readers readers_;
  fastdds::dds::DomainParticipant* participant_ = nullptr;
  fastdds::dds::Publisher* publisher_ = nullptr;
  fastdds::dds::Subscriber* subscriber_ = nullptr;
  std::map<std::string, fastdds::dds::Topic*> topics_;
};

static_assert(Adapter<FastDds>);
static_assert(CountsPublishers<fastdds::FastDdsSubscriber>);

}  // namespace middlemark
