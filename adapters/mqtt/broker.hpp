// The broker: mosquitto, with a configuration and an address of the trial's own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <middlemark/settings.hpp>
#include <sockets/descriptor.hpp>

#include "options.hpp"

namespace middlemark::mqtt {

/// Set for the workers: "127.0.0.1:40123", or the path of a Unix socket.
inline constexpr const char* broker_variable = "MIDDLEMARK_MQTT_BROKER";

struct BrokerAddress {
  std::string host;  ///< or a path
  int port = 0;      ///< 0: libmosquitto takes `host` for the path of a Unix socket

  [[nodiscard]] std::string text() const { return port == 0 ? host : host + ":" + std::to_string(port); }

  [[nodiscard]] static BrokerAddress of_the_trial() {
    const std::string advice =
        "start the broker that 'middlemark-worker-mqtt --companions' names, with its environment";
    const char* told = std::getenv(broker_variable);
    if (told == nullptr) throw AdapterError(std::string("mqtt: ") + broker_variable + " is not set", advice);
    const std::string_view text = told;
    if (text.starts_with('/')) return {std::string(text), 0};
    const std::size_t colon = text.rfind(':');
    BrokerAddress address;
    address.host = text.substr(0, colon);
    const char* const last = text.data() + text.size();
    if (colon == std::string_view::npos || std::from_chars(text.data() + colon + 1, last, address.port).ptr != last ||
        address.port <= 0) {
      throw AdapterError(std::string("mqtt: ") + broker_variable + " = '" + told + "' is no address", advice);
    }
    return address;
  }
};

/// mosquitto cannot listen on port 0 and say which it got. Should the port be taken before it listens, it says so and ends.
[[nodiscard]] inline BrokerAddress free_address(const std::string& interface) {
  const sockets::Descriptor probe = sockets::open_socket(AF_INET, SOCK_STREAM);
  sockets::bind_ipv4(probe.get(), interface);
  const sockets::Address bound = sockets::address_of(probe.get());
  const auto* const ipv4 = reinterpret_cast<const sockaddr_in*>(bound.get());
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &ipv4->sin_addr, text, sizeof text);
  return {text, ntohs(ipv4->sin_port)};
}

/// Debian keeps it in /usr/sbin, which is not on every user's PATH.
[[nodiscard]] inline std::string find_mosquitto() {
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path != nullptr ? path : "/usr/bin") + ":/usr/sbin:/usr/local/sbin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/mosquitto";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw AdapterError("mqtt: mosquitto, the broker, is neither on the PATH nor in /usr/sbin",
                     "Debian, Ubuntu: apt install mosquitto");
}

[[nodiscard]] inline std::string configuration(const BrokerAddress& address, const Options& options) {
  const std::string port = std::to_string(address.port);
  std::string text = "listener " + port + " " + address.host + "\n";
  // Started by root it would become the user mosquitto, who may not enter the trial's folder.
  if (geteuid() == 0) text += "user root\n";
  text +=
      "allow_anonymous true\n"
      "persistence false\n"
      "connection_messages false\n"
      "sys_interval 0\n"
      "log_dest stderr\n"
      "log_type error\nlog_type warning\nlog_type notice\nlog_type information\n";
  text += std::string("set_tcp_nodelay ") + (options.nodelay ? "true" : "false") + "\n";
  text += "max_inflight_messages " + std::to_string(options.max_inflight) + "\n";
  text += "max_queued_messages " + std::to_string(options.max_queued) + "\n";
  text += "max_queued_bytes " + std::to_string(options.max_queued_bytes) + "\n";
  return text;
}

/// Writes the configuration and says how to start the broker with it.
[[nodiscard]] inline Companion broker(const Settings& settings) {
  const Options options(settings);
  BrokerAddress address;
  if (settings.transport == "tcp") {
    address = free_address(settings.interface);
  } else {
    address.host = settings.scratch + "/broker";
    if (address.host.size() >= sizeof(sockaddr_un::sun_path)) {
      throw AdapterError("mqtt: unix: " + address.host + " is longer than the path of a Unix socket may be",
                         "set TMPDIR to a folder with a shorter name");
    }
  }
  const std::filesystem::path path = std::filesystem::path(settings.scratch) / "mosquitto.conf";
  std::ofstream file(path, std::ios::trunc);
  file << configuration(address, options);
  if (!file.flush()) throw AdapterError("mqtt: " + path.string() + " cannot be written");
  Companion companion;
  companion.name = "mosquitto at " + address.text();
  companion.argv = {find_mosquitto(), "-c", path.string()};
  companion.environment = {{broker_variable, address.text()}};
  companion.ready_pattern = "mosquitto version .* running";
  return companion;
}

}  // namespace middlemark::mqtt
