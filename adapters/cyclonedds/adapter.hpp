// Eclipse Cyclone DDS, through its C API. README.md says how each setting becomes one of the middleware's own.
#pragma once

#include <dds/dds.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cyclonedds/domain.hpp>
#include <cyclonedds/entity.hpp>
#include <cyclonedds/history.hpp>
#include <cyclonedds/native.hpp>
#include <cyclonedds/notes.hpp>
#include <cyclonedds/subscriber.hpp>
#include <cyclonedds/version.hpp>
#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "intake.hpp"
#include "octets.hpp"
#include "publisher.hpp"
#include "roudi.hpp"

namespace middlemark {

class CycloneDds {
 public:
  explicit CycloneDds(const Settings& settings)
      : settings_(checked(settings)),
        native_(settings),
        domain_(settings, native_),
        participant_(dds_create_participant(static_cast<dds_domainid_t>(settings.domain), nullptr, nullptr),
                     "dds_create_participant") {}

  [[nodiscard]] static Description describe() {
    const LoadedLibrary library = loaded_library(reinterpret_cast<const void*>(&dds_create_domain));
    Description description;
    description.name = "cyclonedds";
    description.title = "Eclipse Cyclone DDS";
    description.version = library.version;
    description.library = library.path;
    description.licence = "EPL-2.0 OR BSD-3-Clause";
    description.own_threads = true;
    Transport udp;
    udp.name = "udp";
    udp.carrier = "udp";
    udp.processes = {2};
    Transport shm;
    shm.name = "shm";
    shm.carrier = "shared-memory";
    shm.processes = cyclonedds::shared_memory_processes;
    shm.segments = {cyclonedds::data_segment()};
    shm.loan = {false, true};
    shm.max_depth = cyclonedds::iceoryx_most_depth;
    shm.keep_all = false;
    shm.companions = true;
    Transport intraprocess;
    intraprocess.name = "intraprocess";
    intraprocess.carrier = "process-memory";
    intraprocess.processes = {1};
    description.transports = {udp, shm, intraprocess};
    description.residue = cyclonedds::roudi_residue();
    for (const cyclonedds::NativeKey& key : cyclonedds::native_keys) description.native[key.path] = key.text;
    description.native["Domain/*"] = cyclonedds::any_path_text;
    return description;
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    if (settings.transport != "shm") return {};
    return {cyclonedds::roudi(settings)};
  }

  [[nodiscard]] cyclonedds::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic(topic);
    cyclonedds::Entity writer(
        dds_create_writer(participant_.get(), type, cyclonedds::writer_qos(settings_, native_).get(), nullptr),
        "dds_create_writer for " + topic.name);
    require_shared_memory(writer, "writer", topic);
    return cyclonedds::Publisher(std::move(writer), native_, topic.message_bytes, settings_.loan);
  }

  [[nodiscard]] cyclonedds::Subscriber<cyclonedds::Intake> subscriber(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic(topic);
    cyclonedds::Entity reader(
        dds_create_reader(participant_.get(), type, cyclonedds::reader_qos(settings_, native_, topic.publishers).get(),
                          nullptr),
        "dds_create_reader for " + topic.name);
    require_shared_memory(reader, "reader", topic);
    const auto access = shares_memory() ? cyclonedds::Access::in_place : cyclonedds::Access::copied;
    return {std::move(reader), cyclonedds::Intake(topic.message_bytes, access), settings_.reception};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    return cyclonedds::notes(settings_, native_, domain_.warnings());
  }

 private:
  [[nodiscard]] bool shares_memory() const noexcept { return settings_.transport == "shm"; }

  static const Settings& checked(const Settings& settings) {
    if (settings.transport == "shm") {
      if (!settings.depth)
        throw AdapterError("cyclonedds: shm: with keep-all history Cyclone DDS would fall back to UDP");
      cyclonedds::check_roudi(settings);
    } else if (settings.loan) {
      throw AdapterError("cyclonedds: " + settings.transport + ": only shm has memory to lend");
    }
    return settings;
  }

  /// The participant takes the topic with it.
  [[nodiscard]] dds_entity_t make_topic(const Topic& topic) const {
    if (shares_memory()) {
      if (topic.message_bytes > settings_.message_bytes) {  // RouDi's chunks are of that size
        throw AdapterError("cyclonedds: shm: " + topic.name + ": messages of " + std::to_string(topic.message_bytes) +
                           " bytes in a trial of " + std::to_string(settings_.message_bytes));
      }
      if (std::uint64_t{*settings_.depth} * topic.publishers > cyclonedds::iceoryx_most_depth) {
        throw AdapterError("cyclonedds: shm: " + topic.name + ": a depth of " + std::to_string(*settings_.depth) +
                               " for " + std::to_string(topic.publishers) +
                               " publishers each is more than iceoryx queues",
                           "at most " + std::to_string(cyclonedds::iceoryx_most_depth / topic.publishers));
      }
    }
    const cyclonedds::OctetsType type(static_cast<std::uint32_t>(topic.message_bytes));
    return cyclonedds::checked(
        dds_create_topic(participant_.get(), &type.descriptor(), topic.name.c_str(), nullptr, nullptr),
        "dds_create_topic for " + topic.name);
  }

  void require_shared_memory(const cyclonedds::Entity& end, const char* kind, const Topic& topic) const {
    if (!shares_memory() || cyclonedds::shares_memory(end.get())) return;
    throw AdapterError("cyclonedds: shm: the " + std::string(kind) + " of " + topic.name +
                           " does not take part in shared memory and would fall back to UDP",
                       cyclonedds::shared_memory_needs);
  }

  const Settings settings_;
  const cyclonedds::Native native_;
  cyclonedds::Domain domain_;
  cyclonedds::Entity participant_;
};

static_assert(Adapter<CycloneDds>);
static_assert(HasCompanions<CycloneDds>);
static_assert(HasNotes<CycloneDds>);
static_assert(CountsPublishers<cyclonedds::Subscriber<cyclonedds::Intake>>);

}  // namespace middlemark
