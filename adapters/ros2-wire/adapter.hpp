// Sends the wire format of a ROS 2 node (topic names, types, qualities of service and service headers) with Eclipse Cyclone
// DDS, without ROS. README.md lists the Cyclone DDS option that each setting sets.
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
#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "identity.hpp"
#include "intake.hpp"
#include "publisher.hpp"
#include "service.hpp"
#include "types.hpp"

namespace middlemark {

class Ros2Wire {
 public:
  using Subscriber = cyclonedds::Subscriber<ros2_wire::MessageIntake>;

  explicit Ros2Wire(const Settings& settings)
      : settings_(settings),
        native_(settings),
        domain_(settings, native_),
        participant_(settings_, ros2_wire::participant_qos()) {}

  [[nodiscard]] static Description describe() {
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&dds_create_domain));
    Description about{.name = "ros2-wire",
                      .title = "ROS 2 on the wire (Cyclone DDS)",
                      .version = library.version,
                      .library = library.path,
                      .licence = "EPL-2.0 OR BSD-3-Clause",
                      .transports = {{.name = "udp",
                                      .carrier = "udp",
                                      .processes = {2},
                                      .patterns = every_pattern,
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .services = true,
                                      .max_history = std::nullopt,
                                      .wire = "rtps-ros2"},
                                     {.name = "intraprocess",
                                      .carrier = "process-memory",
                                      .processes = {1},
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .services = true,
                                      .max_history = std::nullopt},
                                     {.name = default_configuration,
                                      .carrier = "any",
                                      .patterns = every_pattern,
                                      .types = cyclonedds::types,
                                      .varying_sizes = true,
                                      .services = true,
                                      .max_history = std::nullopt,
                                      .wire = "rtps-ros2"}},
                      .credentials = {Credential::x509, Credential::dds},
                      .own_threads = true,
                      .native = kit::native_table<cyclonedds::NativeElements>()};
    cyclonedds::list_security(about.transports);
    return about;
  }

  static void check(const Settings& settings) {
    cyclonedds::check_domain(settings);
    if (settings.pattern == Pattern::request_reply && settings.type != MessageType::octets) {
      throw AdapterError("ros2-wire: services support only octets", "take type octets, or pattern ping-pong");
    }
  }

  [[nodiscard]] ros2_wire::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic("rt/" + topic.name, type_of(topic));
    return {make_writer(type, writer_qos(topic), topic.name), native_, topic.type, topic.message_bytes};
  }

  [[nodiscard]] Subscriber subscriber(const Topic& topic, unsigned /*index*/) {
    const dds_entity_t type = make_topic("rt/" + topic.name, type_of(topic));
    return {make_reader(type, reader_qos(topic, topic.publishers), topic.name),
            ros2_wire::MessageIntake(topic.type, topic.message_bytes), settings_.reception};
  }

  [[nodiscard]] ros2_wire::Client client(const Topic& service, unsigned /*index*/) {
    const std::string id = "clientid=" + ros2_wire::unique_id(participant_.entity(), ++ends_) + ";";
    cyclonedds::Entity writer = make_writer(requests(service), named(writer_qos(service), id), service.name);
    cyclonedds::Entity reader =
        make_reader(replies(service), named(reader_qos(of_replies(service), 1), id), service.name);
    dds_instance_handle_t handle = 0;
    cyclonedds::checked(dds_get_instance_handle(writer.get(), &handle), "dds_get_instance_handle");
    return {std::move(reader), std::move(writer), handle, native_, service.message_bytes, settings_.reception};
  }

  [[nodiscard]] ros2_wire::Server server(const Topic& service, unsigned /*index*/) {
    const std::string id = "serviceid=" + ros2_wire::unique_id(participant_.entity(), ++ends_) + ";";
    cyclonedds::Entity writer = make_writer(replies(service), named(writer_qos(of_replies(service)), id), service.name);
    cyclonedds::Entity reader =
        make_reader(requests(service), named(reader_qos(service, service.publishers), id), service.name);
    return {std::move(reader), std::move(writer), native_, service.message_bytes, settings_.reception};
  }

  [[nodiscard]] std::string protected_by() const { return participant_.protected_by(); }
  [[nodiscard]] std::string refusals() const { return participant_.refusals(); }
  [[nodiscard]] OwnSettings own_settings() const {
    std::vector<Topic> topics = settings_.endpoints;
    for (const Topic& each : settings_.endpoints) {
      if (each.service) topics.push_back(of_replies(each));
    }
    return cyclonedds::own_settings(domain_, settings_, native_, topics);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return cyclonedds::notes(settings_, native_, domain_); }

 private:
  [[nodiscard]] static const dds_topic_descriptor_t& type_of(const Topic& topic) {
    return topic.type == MessageType::octets ? ros2_wire::multi_array_type : cyclonedds::type_of(topic.type);
  }
  /// Creates a topic. It belongs to the participant, which deletes it.
  [[nodiscard]] dds_entity_t make_topic(const std::string& name, const dds_topic_descriptor_t& type) const {
    return cyclonedds::checked(dds_create_topic(participant_.get(), &type, name.c_str(), nullptr, nullptr),
                               "dds_create_topic for " + name);
  }
  [[nodiscard]] dds_entity_t requests(const Topic& service) const {
    return make_topic("rq/" + service.name + "Request", ros2_wire::request_type);
  }
  [[nodiscard]] dds_entity_t replies(const Topic& service) const {
    return make_topic("rr/" + service.name + "Reply", ros2_wire::reply_type);
  }

  [[nodiscard]] cyclonedds::Entity make_writer(dds_entity_t topic, const cyclonedds::Qos& qos,
                                               const std::string& name) const {
    return {dds_create_writer(participant_.get(), topic, qos.get(), nullptr), "dds_create_writer for " + name};
  }
  [[nodiscard]] cyclonedds::Entity make_reader(dds_entity_t topic, const cyclonedds::Qos& qos,
                                               const std::string& name) const {
    return {dds_create_reader(participant_.get(), topic, qos.get(), nullptr), "dds_create_reader for " + name};
  }

  [[nodiscard]] cyclonedds::Qos reader_qos(const Topic& topic, std::uint64_t sources) const {
    return cyclonedds::reader_qos(settings_, native_, topic, sources);
  }
  [[nodiscard]] cyclonedds::Qos writer_qos(const Topic& topic) const {
    return cyclonedds::writer_qos(settings_, native_, topic);
  }
  [[nodiscard]] static cyclonedds::Qos named(cyclonedds::Qos qos, const std::string& id) {
    dds_qset_userdata(qos.get(), id.data(), id.size());
    return qos;
  }
  /// Returns the topic of the replies, with unlimited depth if there are several clients. Every client's reader receives the
  /// replies to all clients, so with a limited depth these could push out the replies to a slow client.
  [[nodiscard]] static Topic of_replies(Topic service) {
    if (service.publishers > 1) service.depth.reset();
    return service;
  }

  const Settings settings_;
  const cyclonedds::Native native_;
  cyclonedds::Domain domain_;
  cyclonedds::Participant participant_;
  std::uint32_t ends_ = 0;  // clients and servers of this process
};

static_assert(fulfils_contract<Ros2Wire>);

}  // namespace middlemark
