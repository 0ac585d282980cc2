// Eclipse Cyclone DDS, through its C API. README.md lists which settings of Cyclone DDS each setting of a trial sets.
#pragma once

#include <dds/dds.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cyclonedds/domain.hpp>
#include <cyclonedds/entity.hpp>
#include <cyclonedds/history.hpp>
#include <cyclonedds/messages.hpp>
#include <cyclonedds/native.hpp>
#include <cyclonedds/notes.hpp>
#include <cyclonedds/own_settings.hpp>
#include <cyclonedds/security.hpp>
#include <cyclonedds/subscriber.hpp>
#include <cyclonedds/version.hpp>
#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "intake.hpp"
#include "octets.hpp"
#include "publisher.hpp"
#include "roudi.hpp"

namespace middlemark {

class CycloneDds {
 public:
  explicit CycloneDds(const Settings& settings)
      : settings_(with_roudi(settings)), native_(settings), domain_(settings, native_), participant_(settings_) {}

  [[nodiscard]] static Description describe() {
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&dds_create_domain));
    Description about{.name = "cyclonedds",
                      .title = "Eclipse Cyclone DDS",
                      .version = library.version,
                      .library = library.path,
                      .licence = "EPL-2.0 OR BSD-3-Clause",
                      .transports = {{.name = "udp",
                                      .carrier = "udp",
                                      .processes = {2},
                                      .patterns = every_pattern,
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .max_history = std::nullopt,
                                      .wire = "rtps"},
                                     {.name = "shm",
                                      .carrier = "shared-memory",
                                      .segments = {cyclonedds::data_segment()},
                                      .processes = cyclonedds::shared_memory_processes,
                                      .loan = {false, true},
                                      .hands_over = {true},
                                      .max_depth = cyclonedds::iceoryx_most_depth,
                                      .keep_all = false,  // with keep-all Cyclone DDS would use UDP
                                      .companions = true},
                                     {.name = "intraprocess",
                                      .carrier = "process-memory",
                                      .processes = {1},
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .max_history = std::nullopt},
                                     {.name = default_configuration,
                                      .carrier = "any",
                                      .patterns = every_pattern,
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .max_history = std::nullopt,
                                      .wire = "rtps"}},
                      .credentials = {Credential::x509, Credential::dds},
                      .own_threads = true,
                      .residue = cyclonedds::roudi_residue(),
                      .native = kit::native_table<cyclonedds::NativeElements>()};
    cyclonedds::list_security(about.transports);
    return about;
  }

  static void check(const Settings& settings) {
    cyclonedds::check_domain(settings);
    for (const Topic& topic : settings.endpoints) {
      if (settings.transport != "shm" || topic.capacity().value_or(0) <= cyclonedds::iceoryx_most_depth) continue;
      throw AdapterError("cyclonedds: shm: " + topic.name + ": a depth of " + std::to_string(*topic.depth) +
                             " for each of " + std::to_string(topic.publishers) +
                             " publishers is more messages than iceoryx queues for a reader",
                         "at most " + std::to_string(cyclonedds::iceoryx_most_depth / topic.publishers));
    }
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    if (settings.transport != "shm") return {};
    return {cyclonedds::roudi(settings, describe().library)};
  }

  [[nodiscard]] cyclonedds::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic(topic);
    cyclonedds::Entity writer(
        dds_create_writer(participant_.get(), type, cyclonedds::writer_qos(settings_, native_, topic).get(), nullptr),
        "dds_create_writer for " + topic.name);
    require_shared_memory(writer, "writer", topic);
    return cyclonedds::Publisher(std::move(writer), native_, topic.type, topic.message_bytes, settings_.loan,
                                 topic.varies);
  }

  [[nodiscard]] cyclonedds::Subscriber<cyclonedds::Intake> subscriber(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic(topic);
    cyclonedds::Entity reader(
        dds_create_reader(participant_.get(), type,
                          cyclonedds::reader_qos(settings_, native_, topic, topic.publishers).get(), nullptr),
        "dds_create_reader for " + topic.name);
    require_shared_memory(reader, "reader", topic);
    const auto access = shares_memory() ? cyclonedds::Access::in_place
                        : topic.varies  ? cyclonedds::Access::varying
                                        : cyclonedds::Access::copied;
    return {std::move(reader), cyclonedds::Intake(topic.type, topic.message_bytes, access), settings_.reception};
  }

  [[nodiscard]] std::string protected_by() const { return participant_.protected_by(); }
  [[nodiscard]] std::string refusals() const { return participant_.refusals(); }
  [[nodiscard]] OwnSettings own_settings() const {
    return cyclonedds::own_settings(domain_, settings_, native_, settings_.endpoints);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return cyclonedds::notes(settings_, native_, domain_); }

 private:
  [[nodiscard]] bool shares_memory() const noexcept { return settings_.transport == "shm"; }

  static const Settings& with_roudi(const Settings& settings) {
    if (settings.transport == "shm") cyclonedds::check_roudi(settings);
    return settings;
  }

  [[nodiscard]] dds_entity_t make_topic(const Topic& topic) const {
    const cyclonedds::OctetsType octets(static_cast<std::uint32_t>(topic.message_bytes));
    const auto& type = topic.varies                        ? cyclonedds::sequence_type
                       : topic.type == MessageType::octets ? octets.descriptor()
                                                           : cyclonedds::type_of(topic.type);
    return cyclonedds::checked(dds_create_topic(participant_.get(), &type, topic.name.c_str(), nullptr, nullptr),
                               "dds_create_topic for " + topic.name);
  }

  void require_shared_memory(const cyclonedds::Entity& end, const char* kind, const Topic& topic) const {
    if (!shares_memory() || cyclonedds::shares_memory(end.get())) return;
    throw AdapterError("cyclonedds: shm: the " + std::string(kind) + " of " + topic.name +
                           " does not use shared memory and would fall back to UDP",
                       cyclonedds::shared_memory_needs);
  }

  const Settings settings_;
  const cyclonedds::Native native_;
  cyclonedds::Domain domain_;
  cyclonedds::Participant participant_;
};

static_assert(fulfils_contract<CycloneDds>);

}  // namespace middlemark
