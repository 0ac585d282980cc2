// Computes the quality of service of a trial's participant, writers and readers. Values that are not set here are Fast
// DDS's defaults.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <type_traits>
#include <utility>

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>
#include <fastdds/rtps/flowcontrol/FlowControllerDescriptor.hpp>

#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "discovery.hpp"
#include "library.hpp"
#include "options.hpp"
#include "tcp.hpp"

namespace middlemark::fastdds {

[[nodiscard]] inline Duration duration(std::chrono::nanoseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<std::int32_t>(whole.count()), static_cast<std::uint32_t>((time - whole).count())};
}

[[nodiscard]] inline Duration milliseconds(std::uint32_t count) { return duration(std::chrono::milliseconds(count)); }

inline constexpr const char* flow_controller = "middlemark";
inline constexpr const char* key_agreement = "DH+MODP-2048-256";

/// Returns the quality of service that writers and readers share. `messages`: the number of messages in the history.
template <class Qos>
[[nodiscard]] Qos endpoint_qos(Qos qos, const Options& options, const Topic& topic, std::uint64_t messages) {
  qos.reliability().kind =
      topic.reliability == Reliability::reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = duration(options.settings.write_timeout);
  qos.durability().kind = topic.history > 0 ? dds::TRANSIENT_LOCAL_DURABILITY_QOS : dds::VOLATILE_DURABILITY_QOS;
  const auto most = static_cast<std::int32_t>(std::min<std::uint64_t>(messages, INT32_MAX));
  qos.history().kind = topic.depth ? dds::KEEP_LAST_HISTORY_QOS : dds::KEEP_ALL_HISTORY_QOS;
  if (topic.depth) qos.history().depth = most;
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().max_samples = most;
  qos.resource_limits().max_samples_per_instance = most;
  qos.resource_limits().allocated_samples = std::min(static_cast<std::int32_t>(*options.allocated_samples), most);
  if (options.config.empty()) {
    qos.resource_limits().extra_samples = static_cast<std::int32_t>(*options.extra_samples);
    qos.endpoint().history_memory_policy = static_cast<renamed::MemoryManagementPolicy_t>(options.history_memory);
  }
  for (const auto& [name, value] : options.properties) qos.properties().properties().emplace_back(name, value);
  if (options.over("data-sharing")) {
    qos.data_sharing().on("");  // ON instead of AUTO: creation must fail if data-sharing is not possible
  } else if (!options.is_default) {
    qos.data_sharing().off();
  }
  return qos;
}

/// `defaults`: the values of the library, or of the user's profile.
[[nodiscard]] inline dds::DataWriterQos writer_qos(const dds::DataWriterQos& defaults, const Options& options,
                                                   const Topic& topic) {
  auto qos = endpoint_qos(defaults, options, topic, topic.depth.value_or(options.writer_samples));
  if (!options.config.empty()) return qos;
  qos.publish_mode().kind = options.asynchronous ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
  if (options.flow_controlled()) qos.publish_mode().flow_controller_name = flow_controller;
  auto& reliable = qos.reliable_writer_qos();
  if (options.heartbeat_period_ms) {
    reliable.times.*heartbeat_period = milliseconds(*options.heartbeat_period_ms);
  }
  reliable.times.*nack_response_delay = milliseconds(options.nack_response_delay_ms);
  reliable.times.*nack_suppression = milliseconds(options.nack_suppression_ms);
  reliable.disable_heartbeat_piggyback = !options.heartbeat_piggyback.value_or(true);
  if (options.positive_acks_off_ms > 0) {
    reliable.disable_positive_acks.enabled = true;
    reliable.disable_positive_acks.duration = milliseconds(options.positive_acks_off_ms);
  }
  return qos;
}

[[nodiscard]] inline dds::DataReaderQos reader_qos(const dds::DataReaderQos& defaults, const Options& options,
                                                   const Topic& topic) {
  auto qos = endpoint_qos(defaults, options, topic, topic.capacity().value_or(options.reader_samples));
  if (!options.config.empty()) return qos;
  auto& reliable = qos.reliable_reader_qos();
  reliable.times.*heartbeat_response_delay = milliseconds(options.heartbeat_response_delay_ms);
  (reliable.*disable_positive_acks).enabled = options.positive_acks_off_ms > 0;
  return qos;
}

/// Adds the discovery ports of the peers to which this process connects. The logical port is the port of participant 0,
/// because each process has one participant. Without a logical port Fast DDS tries the ports of four participants and
/// sleeps 100 ms before each.
inline void add_tcp_peers(dds::DomainParticipantQos& qos, const Settings& settings, const TcpPlace& place) {
  using renamed::IPLocator;
  auto& wire = qos.wire_protocol();
  const auto domain = static_cast<std::uint32_t>(settings.domain);
  for (const auto& [address, port] : place.later()) {
    renamed::Locator_t peer;
    peer.kind = LOCATOR_KIND_TCPv4;
    IPLocator::setIPv4(peer, address);
    IPLocator::setPhysicalPort(peer, port);
    IPLocator::setLogicalPort(peer, static_cast<std::uint16_t>(wire.port.getUnicastPort(domain, 0)));
    wire.builtin.initialPeersList.push_back(peer);
  }
  // Each announcement is an attempt to connect. By default there are five announcements with a period of 100 ms, and
  // then one every three seconds. A shorter period is not safe: Fast DDS has a race if an attempt reaches a peer that
  // listens before it is ready.
  wire.builtin.discovery_config.initial_announcements.count = std::max(100U, 10 * settings.workers);
}

/// Replaces the security settings of the user's profile by the trial's settings, because security is a factor.
inline void secure(dds::DomainParticipantQos& qos, const Options& options) {
  auto& all = qos.properties().properties();
  std::erase_if(all, [](const auto& property) { return property.name().starts_with(dds_security::prefix); });
  if (!options.secure) return;
  const std::string authentication = "dds.sec.auth.builtin.PKI-DH.";
  all.emplace_back("dds.sec.auth.plugin", "builtin.PKI-DH");
  all.emplace_back("dds.sec.access.plugin", "builtin.Access-Permissions");
  all.emplace_back("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC");
  all.emplace_back(authentication + "preferred_key_agreement",
                   key_agreement);  // exists since 3.1; older versions have no other algorithm
  for (const auto& [name, value] :
       dds_security::files(options.settings, authentication, "dds.sec.access.builtin.Access-Permissions.")) {
    all.emplace_back(name, value);
  }
}

/// Calls `visit(name, locators)` for each list of addresses in a participant's profile. Such addresses are for other
/// hosts or for one process only, and the processes of a trial find each other without them.
template <class Qos, class Visit>
void visit_addresses(Qos& qos, Visit visit) {
  auto& wire = qos.wire_protocol();
  visit("initialPeersList", wire.builtin.initialPeersList);
  visit("metatrafficUnicastLocatorList", wire.builtin.metatrafficUnicastLocatorList);
  visit("metatrafficMulticastLocatorList", wire.builtin.metatrafficMulticastLocatorList);
  visit("defaultUnicastLocatorList", wire.default_unicast_locator_list);
  visit("defaultMulticastLocatorList", wire.default_multicast_locator_list);
}

/// Throws an AdapterError if the user's profiles need processes that a trial does not have, or if Fast DDS would use
/// none of the profiles. `qos`: the quality of service in the participant's default profile.
inline void refuse_profiles(const dds::DomainParticipantQos& qos, const Options& options) {
  const std::string file = "fastdds: config: " + options.config + ": ";
  if (names_a_server(qos)) {
    const Server server = own_server(qos, options);
    if (!options.by_server) {
      throw AdapterError(file + "its participants find each other by the discovery server " + server.place() +
                             ", and this trial is direct",
                         "add --via discovery-server, which starts this server for each trial");
    }
  }
  for (const auto& transport : qos.transport().user_transports) {
    if (!options.is_default || dynamic_cast<const rtps::TCPTransportDescriptor*>(transport.get()) == nullptr) continue;
    throw AdapterError(file + "a TCP transport needs a port and peers for each process of a trial",
                       "remove it from userTransports, or choose --transport tcp, which sets both");
  }
  std::ifstream content(options.config, std::ios::binary);
  const std::string xml{std::istreambuf_iterator<char>(content), {}};
  static const std::regex used(R"(is_default_profile\s*=\s*["'](true|1)["']|<library_settings|<log[ >])");
  if (std::regex_search(xml, used)) return;
  throw AdapterError(file + "no profile is a default profile, so Fast DDS would use none of them",
                     "write is_default_profile=\"true\" at the profiles to use");
}

/// Returns the quality of service of the participant, which uses only the trial's transport, on one interface. `place`
/// is nullopt except over TCP.
[[nodiscard]] inline dds::DomainParticipantQos participant_qos(dds::DomainParticipantQos qos, const Options& options,
                                                               const std::optional<TcpPlace>& place) {
  qos.name(options.settings.scope.c_str());
  const bool builtin = std::exchange(qos.transport().use_builtin_transports, false);
  visit_addresses(qos, [](const char* /*name*/, auto& locators) { locators.clear(); });
  if (options.by_server) discover_by(Server::of_the_trial(), qos);
  if (options.config.empty()) {
    qos.allocation().send_buffers.preallocated_number = options.send_buffers;
    qos.allocation().send_buffers.dynamic = options.send_buffers_dynamic;
  }
  for (const auto& [name, value] : options.properties) qos.properties().properties().emplace_back(name, value);
  secure(qos, options);
  if (options.config.empty()) qos.wire_protocol().builtin.mutation_tries = options.mutation_tries;
  if (options.flow_controlled()) {
    auto controller = std::make_shared<rtps::FlowControllerDescriptor>();
    controller->name = flow_controller;
    controller->max_bytes_per_period = options.flow_bytes_per_period.value_or(0);
    controller->period_ms = options.flow_period_ms.value_or(100);
    controller->scheduler = static_cast<rtps::FlowControllerSchedulerPolicy>(options.flow_scheduler.value_or(0));
    qos.flow_controllers().push_back(std::move(controller));
  }
  auto& transports = qos.transport().user_transports;
  if (options.is_default) {
    if (builtin) {
      transports.push_back(std::make_shared<rtps::UDPv4TransportDescriptor>());
      transports.push_back(std::make_shared<rtps::SharedMemTransportDescriptor>());
    }
    for (auto& transport : transports) {  // by default sockets use every interface
      auto* const sockets = dynamic_cast<rtps::SocketTransportDescriptor*>(transport.get());
      if (sockets != nullptr) sockets->interfaceWhiteList = {kit::ipv4_text(options.settings.interface)};
    }
    return qos;
  }
  transports.clear();
  if (options.over("shm") || options.over("data-sharing")) {
    auto transport = std::make_shared<rtps::SharedMemTransportDescriptor>();
    transport->segment_size(options.segment);
    transport->port_queue_capacity(options.queue);
    transport->max_message_size(options.max_message_size);
    transports.push_back(std::move(transport));
    return qos;
  }
  const auto use = [&](auto transport) {
    transport->interfaceWhiteList.push_back(kit::ipv4_text(options.settings.interface));
    transport->sendBufferSize = options.socket_buffer;
    transport->receiveBufferSize = options.socket_buffer;
    transport->maxMessageSize = options.max_message_size;
    transports.push_back(std::move(transport));
  };
  if (place) {
    auto transport = std::make_shared<rtps::TCPv4TransportDescriptor>();
    transport->add_listener_port(place->own());
    transport->enable_tcp_nodelay = options.tcp_nodelay;
    transport->calculate_crc = options.tcp_crc;
    transport->check_crc = options.tcp_crc;
    use(std::move(transport));
    add_tcp_peers(qos, options.settings, *place);
  } else {  // udp, or intraprocess, which uses UDP for discovery
    auto transport = std::make_shared<rtps::UDPv4TransportDescriptor>();
    transport->non_blocking_send = options.udp_non_blocking_send;
    use(std::move(transport));
  }
  return qos;
}

}  // namespace middlemark::fastdds
