// The discovery server of a trial with via = discovery-server: the program fast-discovery-server of Fast DDS, as a
// companion. Messages do not pass through it: participants only find each other by it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "library.hpp"
#include "options.hpp"

namespace middlemark::fastdds {

/// The environment variable with the server: "127.0.0.1:11811" or, if it is not the server 0, "127.0.0.1:11811 3". The
/// launcher sets it for the workers.
inline constexpr const char* server_variable = "MIDDLEMARK_FASTDDS_SERVER";

using DiscoveryProtocol =
    std::remove_cvref_t<decltype(dds::WireProtocolConfigQos{}.builtin.discovery_config.discoveryProtocol)>;

struct Server {
  std::string address;  ///< IPv4
  int port = 0;
  int id = 0;  ///< the program's `-i`, which is a part of the server's GUID

  [[nodiscard]] std::string place() const { return address + ":" + std::to_string(port); }

  /// Returns the GUID prefix that fast-discovery-server has with this id.
  [[nodiscard]] renamed::GuidPrefix_t prefix() const {
    renamed::GuidPrefix_t prefix;
    std::istringstream("44.53.00.5f.45.50.52.4f.53.49.4d.41") >> prefix;
    prefix.value[2] = static_cast<renamed::octet>(id);
    return prefix;
  }

  [[nodiscard]] static Server of_the_trial() {
    const char* const value = std::getenv(server_variable);
    const std::string text = value != nullptr ? value : "";
    const std::size_t colon = text.find(':');
    Server server;
    if (colon == std::string::npos || !(std::istringstream(text.substr(colon + 1)) >> server.port) ||
        server.port <= 0) {
      throw AdapterError(std::string("fastdds: ") + server_variable + " = '" + text + "' is not an address",
                         "start the server that 'middlemark-worker-fastdds --companions' names, with its environment");
    }
    server.address = text.substr(0, colon);
    const std::size_t space = text.find(' ');
    if (space != std::string::npos) std::istringstream(text.substr(space)) >> server.id;
    return server;
  }
};

/// Returns true if the user's profile needs a discovery server.
template <class Qos>
[[nodiscard]] bool names_a_server(const Qos& qos) {
  return qos.wire_protocol().builtin.discovery_config.discoveryProtocol != DiscoveryProtocol::SIMPLE;
}

/// Calls `visit(prefix, locator)` for each locator of each server in a participant's profile. Since version 3 servers
/// have no prefix.
template <class Qos, class Visit>
void visit_servers(const Qos& qos, Visit visit) {
  for (const auto& server : qos.wire_protocol().builtin.discovery_config.m_DiscoveryServers) {
    if constexpr (requires { server.guidPrefix; }) {
      for (const auto& locator : server.metatrafficUnicastLocatorList) visit(server.guidPrefix, locator);
    } else {
      visit(Server{}.prefix(), server);
    }
  }
}

/// Returns the server in the user's profile. Throws an AdapterError unless it is one server on the trial's interface.
template <class Qos>
[[nodiscard]] Server own_server(const Qos& qos, const Options& options) {
  const std::string file = "fastdds: config: " + options.config + ": ";
  const auto protocol = qos.wire_protocol().builtin.discovery_config.discoveryProtocol;
  if (protocol != DiscoveryProtocol::CLIENT && protocol != DiscoveryProtocol::SUPER_CLIENT) {
    throw AdapterError(file + "discoveryProtocol is not SIMPLE, CLIENT or SUPER_CLIENT",
                       "give the profile of a client; a trial starts the server itself");
  }
  int count = 0;
  Server server;
  visit_servers(qos, [&](const renamed::GuidPrefix_t& prefix, const auto& locator) {
    ++count;
    server = {renamed::IPLocator::toIPv4string(locator), static_cast<int>(locator.port), prefix.value[2]};
    const std::string own = kit::ipv4_text(options.settings.interface);
    const bool here = locator.kind == LOCATOR_KIND_UDPv4 &&
                      (server.address == own || (own.starts_with("127.") && server.address.starts_with("127.")));
    if (!here) {
      throw AdapterError(file + "the discovery server " + server.place() + " is not at " + own + ", over UDP",
                         "a trial starts its own server: name one at " + own + ", or remove discovery_config");
    }
    if (server.prefix() != prefix) {
      throw AdapterError(file + "the prefix of the discovery server is none that fast-discovery-server uses",
                         "write 44.53.00.5f.45.50.52.4f.53.49.4d.41, the prefix of its server 0");
    }
  });
  if (count != 1) {
    throw AdapterError(file + "it names " + std::to_string(count) + " discovery servers, and a trial has one",
                       "name one server at " + kit::ipv4_text(options.settings.interface));
  }
  return server;
}

/// Makes the participant a client of the server. `qos`: the profile, whose kind of client stays.
template <class Qos>
void discover_by(const Server& server, Qos& qos) {
  auto& discovery = qos.wire_protocol().builtin.discovery_config;
  if (!names_a_server(qos)) discovery.discoveryProtocol = DiscoveryProtocol::CLIENT;
  renamed::Locator_t locator;
  locator.kind = LOCATOR_KIND_UDPv4;
  renamed::IPLocator::setIPv4(locator, server.address);
  locator.port = static_cast<std::uint32_t>(server.port);
  auto& servers = discovery.m_DiscoveryServers;
  servers.clear();
  using One = typename std::remove_reference_t<decltype(servers)>::value_type;
  if constexpr (requires(One one) { one.guidPrefix; }) {
    One remote;
    remote.guidPrefix = server.prefix();
    remote.metatrafficUnicastLocatorList.push_back(locator);
    servers.push_back(remote);
  } else {
    servers.push_back(locator);
  }
}

/// Returns the command that starts the server. `own`: the server of the user's profile; null: none.
[[nodiscard]] inline Companion discovery_server(const Settings& settings, const Server* own) {
  Server server{kit::ipv4_text(settings.interface), 0, 0};
  if (own != nullptr) {
    server = *own;
  } else {
    server.port = kit::free_port(settings.interface, SOCK_DGRAM);
  }
  const std::string id = std::to_string(server.id);
  std::vector<std::string> argv;
#ifdef MIDDLEMARK_FASTDDS_FOLDERS  // programs in the wheels of ROS 2 do not find the libraries of the wheels
  argv = {kit::find_program("env", "install coreutils"), "LD_LIBRARY_PATH=" MIDDLEMARK_FASTDDS_FOLDERS};
#endif
  argv.push_back(
      kit::find_program("fast-discovery-server", "Debian, Ubuntu: apt install fastdds-tools", loaded_library().path));
#if FASTDDS_VERSION_MAJOR > 3 || (FASTDDS_VERSION_MAJOR == 3 && FASTDDS_VERSION_MINOR >= 2)
  argv.emplace_back("42");  // the number of the command `server`
#endif
  argv.insert(argv.end(), {"-i", id, "-l", server.address, "-p", std::to_string(server.port)});
  // With a free port in its name, the server of each trial would have figures of its own.
  return {.name = own == nullptr ? "fast-discovery-server" : "fast-discovery-server at " + server.place(),
          .argv = std::move(argv),
          .environment = {{server_variable, server.id == 0 ? server.place() : server.place() + " " + id}},
          .ready_pattern = "Server (is running|started)"};
}

}  // namespace middlemark::fastdds
