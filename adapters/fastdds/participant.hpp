// The participant: transports of the trial and nothing else, on one interface, deaf to the user's profiles and
// environment.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/rtps/flowcontrol/FlowControllerDescriptor.hpp>

#include <middlemark/settings.hpp>

#include "endpoint_qos.hpp"
#include "options.hpp"
#include "return_code.hpp"
#include "tcp_ports.hpp"
#include "version.hpp"

namespace middlemark::fastdds {

/// What Fast DDS logged as an error: its calls say only that they failed.
class Logged final : public dds::LogConsumer {
 public:
  void Consume(const dds::Log::Entry& entry) override {
    const std::lock_guard lock(mutex());
    if (text().size() < 1000) text() += (text().empty() ? "" : "; ") + entry.message;
  }
  [[nodiscard]] static std::string errors() {
    dds::Log::Flush();
    const std::lock_guard lock(mutex());
    return text().empty() ? "Fast DDS gave no reason" : text();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::string& text() {
    static std::string one;
    return one;
  }
};

/// The IPv4 address of a network interface.
[[nodiscard]] inline std::string address_of(const std::string& interface) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) throw AdapterError(std::string("fastdds: getifaddrs: ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, &freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || interface != each->ifa_name) continue;
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof text);
    return text;
  }
  throw AdapterError("fastdds: interface '" + interface + "' does not exist or has no IPv4 address",
                     "`ip -4 addr` shows those that have one");
}

/// Must run before Fast DDS is first used in the process.
inline void isolate(Carrier carrier) {
  for (const char* name : {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE",
                           "FASTDDS_ENVIRONMENT_FILE", "FASTDDS_STATISTICS", "FASTDDS_BUILTIN_TRANSPORTS",
                           "ROS_DISCOVERY_SERVER", "ROS_SUPER_CLIENT", "ROS2_EASY_MODE"}) {
    unsetenv(name);
  }
  // DEFAULT_FASTRTPS_PROFILES.xml, of version 3 DEFAULT_FASTDDS_PROFILES.xml, in the working directory.
  setenv("SKIP_DEFAULT_XML_FILE", "1", 1);

  deliver_within_the_process(carrier == Carrier::intraprocess);
  dds::Log::SetVerbosity(dds::Log::Kind::Error);
  dds::Log::RegisterConsumer(std::make_unique<Logged>());
}

/// Connects to the peers' discovery ports. Each process has one participant, so its number is 0; without the logical
/// port Fast DDS tries those of four participants and sleeps 100 ms before each.
inline void add_tcp_peers(dds::DomainParticipantQos& qos, const Settings& settings, const std::string& address,
                          const std::vector<std::uint16_t>& ports) {
  using renamed::IPLocator;
  auto& wire = qos.wire_protocol();
  for (const std::uint16_t port : ports) {
    renamed::Locator_t peer;
    peer.kind = LOCATOR_KIND_TCPv4;
    IPLocator::setIPv4(peer, address);
    IPLocator::setPhysicalPort(peer, port);
    IPLocator::setLogicalPort(
        peer, static_cast<std::uint16_t>(wire.port.getUnicastPort(static_cast<std::uint32_t>(settings.domain), 0)));
    wire.builtin.initialPeersList.push_back(peer);
  }
  // Each announcement is an attempt to connect. By default there are five, 100 ms apart, and then one every three
  // seconds. Not closer than that: an attempt that meets a peer between listening and being ready may end in a second
  // race of Fast DDS's.
  wire.builtin.discovery_config.initial_announcements.count = std::max(100U, 10 * settings.workers);
}

[[nodiscard]] inline dds::DomainParticipantQos participant_qos(const Settings& settings, const Options& options,
                                                               const TcpPlace* place) {
  dds::DomainParticipantQos qos;
  qos.name(settings.scope.c_str());
  qos.transport().use_builtin_transports = false;
  qos.allocation().send_buffers.preallocated_number = options.send_buffers;
  qos.allocation().send_buffers.dynamic = options.send_buffers_dynamic;
  for (const auto& [name, value] : options.properties) qos.properties().properties().emplace_back(name, value);
  if (options.flow_controlled) {
    auto controller = std::make_shared<rtps::FlowControllerDescriptor>();
    controller->name = flow_controller;
    controller->max_bytes_per_period = static_cast<std::int32_t>(options.flow_bytes);
    controller->period_ms = options.flow_period_ms;
    controller->scheduler = static_cast<rtps::FlowControllerSchedulerPolicy>(options.flow_scheduler);
    qos.flow_controllers().push_back(std::move(controller));
  }
  const auto use = [&qos](auto transport) { qos.transport().user_transports.push_back(std::move(transport)); };
  const auto common = [&](auto& transport, const std::string& address) {
    transport.interfaceWhiteList.push_back(address);
    transport.sendBufferSize = options.socket_buffer;
    transport.receiveBufferSize = options.socket_buffer;
    transport.maxMessageSize = options.packet;
  };
  switch (options.carrier) {
    case Carrier::shm:
    case Carrier::data_sharing: {
      auto transport = std::make_shared<rtps::SharedMemTransportDescriptor>();
      transport->segment_size(options.segment);
      transport->port_queue_capacity(options.queue);
      transport->max_message_size(options.packet);
      use(transport);
      break;
    }
    case Carrier::intraprocess:
    case Carrier::udp: {
      auto transport = std::make_shared<rtps::UDPv4TransportDescriptor>();
      common(*transport, address_of(settings.interface));
      transport->non_blocking_send = options.udp_non_blocking;
      use(transport);
      break;
    }
    case Carrier::tcp: {
      const std::string address = address_of(settings.interface);
      auto transport = std::make_shared<rtps::TCPv4TransportDescriptor>();
      common(*transport, address);
      transport->add_listener_port(place->own());
      transport->enable_tcp_nodelay = options.tcp_nodelay;
      transport->calculate_crc = options.tcp_crc;
      transport->check_crc = options.tcp_crc;
      use(transport);
      add_tcp_peers(qos, settings, address, place->later());
      break;
    }
  }
  return qos;
}

}  // namespace middlemark::fastdds
