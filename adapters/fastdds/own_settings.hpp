// Returns the settings of a trial as profiles in Fast DDS's XML. Reads them from the quality of service of the
// participant, its transports, its writers and its readers. Leaves out addresses, ports and security, which are only
// for this trial.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

#include <middlemark/kit/xml.hpp>
#include <middlemark/settings.hpp>

#include "library.hpp"
#include "qos.hpp"

namespace middlemark::fastdds {

#if MIDDLEMARK_FASTDDS_MAJOR == 2
inline constexpr const char* heartbeat_period_tag = "heartbeatPeriod";
inline constexpr const char* nack_response_delay_tag = "nackResponseDelay";
inline constexpr const char* nack_suppression_tag = "nackSupressionDuration";
inline constexpr const char* heartbeat_response_delay_tag = "heartbeatResponseDelay";
#else
inline constexpr const char* heartbeat_period_tag = "heartbeat_period";
inline constexpr const char* nack_response_delay_tag = "nack_response_delay";
inline constexpr const char* nack_suppression_tag = "nack_supression_duration";
inline constexpr const char* heartbeat_response_delay_tag = "heartbeat_response_delay";
#endif

inline void add_duration(kit::XmlElement& parent, const char* name, const Duration& duration) {
  parent.child(name).add("sec", duration.seconds).add("nanosec", duration.nanosec);
}

template <class Qos>
void add_endpoint(kit::XmlElement& profile, const Qos& qos) {
  constexpr bool writes = std::is_same_v<Qos, dds::DataWriterQos>;
  kit::XmlElement& own = profile.child("qos");
  kit::XmlElement& reliability = own.child("reliability");
  reliability.add("kind", qos.reliability().kind == dds::RELIABLE_RELIABILITY_QOS ? "RELIABLE" : "BEST_EFFORT");
  add_duration(reliability, "max_blocking_time", qos.reliability().max_blocking_time);
  own.child("durability")
      .add("kind", qos.durability().kind == dds::VOLATILE_DURABILITY_QOS ? "VOLATILE" : "TRANSIENT_LOCAL");
  const dds::DataSharingKind sharing = qos.data_sharing().kind();
  own.child("data_sharing").add("kind", sharing == dds::ON ? "ON" : sharing == dds::OFF ? "OFF" : "AUTOMATIC");
  if constexpr (writes) {
    own.child("publishMode")
        .add("kind", qos.publish_mode().kind == dds::SYNCHRONOUS_PUBLISH_MODE ? "SYNCHRONOUS" : "ASYNCHRONOUS");
  }
  kit::XmlElement& topic = profile.child("topic");
  kit::XmlElement& history = topic.child("historyQos");
  history.add("kind", qos.history().kind == dds::KEEP_LAST_HISTORY_QOS ? "KEEP_LAST" : "KEEP_ALL");
  if (qos.history().kind == dds::KEEP_LAST_HISTORY_QOS) history.add("depth", qos.history().depth);
  const auto& limits = qos.resource_limits();
  topic.child("resourceLimitsQos")
      .add("max_samples", limits.max_samples)
      .add("max_instances", limits.max_instances)
      .add("max_samples_per_instance", limits.max_samples_per_instance)
      .add("allocated_samples", limits.allocated_samples)
      .add("extra_samples", limits.extra_samples);
  kit::XmlElement& times = profile.child("times");
  if constexpr (writes) {
    const auto& reliable = qos.reliable_writer_qos();
    add_duration(times, heartbeat_period_tag, reliable.times.*heartbeat_period);
    add_duration(times, nack_response_delay_tag, reliable.times.*nack_response_delay);
    add_duration(times, nack_suppression_tag, reliable.times.*nack_suppression);
  } else {
    add_duration(times, heartbeat_response_delay_tag, qos.reliable_reader_qos().times.*heartbeat_response_delay);
  }
  constexpr std::array memory{"PREALLOCATED", "PREALLOCATED_WITH_REALLOC", "DYNAMIC", "DYNAMIC_REUSABLE"};
  profile.add("historyMemoryPolicy", memory.at(static_cast<std::size_t>(qos.endpoint().history_memory_policy)));
}

/// Adds the settings of a transport to `described`. Returns false if the kind of the transport is unknown.
inline bool add_transport(kit::XmlElement& described, const rtps::TransportDescriptorInterface& transport) {
  if (const auto* shm = dynamic_cast<const rtps::SharedMemTransportDescriptor*>(&transport)) {
    described.add("type", "SHM").add("maxMessageSize", shm->max_message_size());
    described.add("segment_size", shm->segment_size()).add("port_queue_capacity", shm->port_queue_capacity());
    return true;
  }
  const auto* sockets = dynamic_cast<const rtps::SocketTransportDescriptor*>(&transport);
  if (sockets == nullptr) return false;
  const auto* udp = dynamic_cast<const rtps::UDPv4TransportDescriptor*>(sockets);
  const auto* tcp = dynamic_cast<const rtps::TCPv4TransportDescriptor*>(sockets);
  if (udp == nullptr && tcp == nullptr) return false;
  described.add("type", udp != nullptr ? "UDPv4" : "TCPv4");
  described.add("sendBufferSize", sockets->sendBufferSize).add("receiveBufferSize", sockets->receiveBufferSize);
  described.add("maxMessageSize", sockets->maxMessageSize);
  if (udp != nullptr) described.add("non_blocking_send", udp->non_blocking_send);
  if (tcp != nullptr) {
    described.add("calculate_crc", tcp->calculate_crc).add("check_crc", tcp->check_crc);
    described.add("enable_tcp_nodelay", tcp->enable_tcp_nodelay);
  }
  return true;
}

/// Returns the profiles. `within_process`: true if messages between participants of one process do not use a transport.
[[nodiscard]] inline OwnSettings own_settings(const dds::DomainParticipantQos& participant_qos,
                                              const std::vector<dds::DataWriterQos>& writers,
                                              const std::vector<dds::DataReaderQos>& readers, bool within_process) {
  kit::XmlElement root("dds");
  kit::XmlElement& profiles = root.child("profiles");
  profiles.attribute("xmlns", "http://www.eprosima.com");
  kit::XmlElement& transports = profiles.child("transport_descriptors");
  kit::XmlElement& participant = profiles.child("participant").attribute("profile_name", "participant");
  kit::XmlElement& its = participant.attribute("is_default_profile", "true").child("rtps");
  kit::XmlElement& used = its.child("userTransports");
  for (const auto& transport : participant_qos.transport().user_transports) {
    kit::XmlElement described("transport_descriptor");
    const std::string id = "transport_" + std::to_string(used.size());
    described.add("transport_id", id);
    if (!add_transport(described, *transport)) continue;
    transports.append(described);
    used.add("transport_id", id);
  }
  its.add("useBuiltinTransports", participant_qos.transport().use_builtin_transports);
  const auto& buffers = participant_qos.allocation().send_buffers;
  its.child("allocation")
      .child("send_buffers")
      .add("preallocated_number", buffers.preallocated_number)
      .add("dynamic", buffers.dynamic);
  const std::uint32_t tries = participant_qos.wire_protocol().builtin.mutation_tries;
  if (tries != Options::usual_mutation_tries) its.child("builtin").add("mutation_tries", tries);
  const auto add = [&profiles](const char* kind, const auto& all) {
    std::size_t number = 0;
    for (const auto& qos : all) {
      kit::XmlElement& profile = profiles.child(kind);
      profile.attribute("profile_name", std::string(kind) + "_" + std::to_string(number));
      if (number == 0) profile.attribute("is_default_profile", "true");
      add_endpoint(profile, qos);
      ++number;
    }
  };
  add("data_writer", writers);
  add("data_reader", readers);
  root.child("library_settings").add("intraprocess_delivery", within_process ? "FULL" : "OFF");
  return {.language = Language::xml, .text = root.text()};
}

}  // namespace middlemark::fastdds
