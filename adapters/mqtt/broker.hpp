// The broker: one mosquitto per trial, with its own configuration and address.
#pragma once

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/trial.hpp>
#include <middlemark/settings.hpp>

#include "options.hpp"
#include "tls.hpp"
#include "user_file.hpp"

namespace middlemark::mqtt {

/// The environment variable with the broker's address: "127.0.0.1:40123" or the path of a Unix socket. The launcher sets it
/// for the workers.
inline constexpr const char* broker_variable = "MIDDLEMARK_MQTT_BROKER";

struct BrokerAddress {
  std::string host;  ///< an IPv4 address, or the path of a Unix socket if `port` is 0
  int port = 0;      ///< mosquitto_connect() and the broker's `listener` also take 0 for a Unix socket

  [[nodiscard]] std::string text() const { return port == 0 ? host : host + ":" + std::to_string(port); }

  [[nodiscard]] static BrokerAddress of_the_trial() {
    const char* const value = std::getenv(broker_variable);
    const std::string_view text = value != nullptr ? value : "";
    if (text.starts_with('/')) return {std::string(text), 0};
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    BrokerAddress address{std::string(text.substr(0, colon)), 0};
    const char* const last = text.data() + text.size();
    if (colon == text.size() || std::from_chars(text.data() + colon + 1, last, address.port).ptr != last ||
        address.port <= 0) {
      throw AdapterError(std::string("mqtt: ") + broker_variable + " = '" + std::string(text) + "' is not an address",
                         "start the broker that 'middlemark-worker-mqtt --companions' names, with its environment");
    }
    return address;
  }
};

/// The settings and the broker's address, which all clients of a process share.
struct Trial : kit::Trial<Options> {
  using kit::Trial<Options>::Trial;

  const BrokerAddress broker = BrokerAddress::of_the_trial();
  std::string protected_by{};  ///< TLS algorithms of the last client that connected; empty without protection
};

/// Returns the lines of the broker's configuration that contain no address, path or name of the trial.
[[nodiscard]] inline std::string broker_settings(const Options& options) {
  std::ostringstream text;
  if (options.config.empty()) text << "max_inflight_messages " << options.max_inflight << '\n';
  if (options.messages != 0 || !options.is_default) text << "max_queued_messages " << options.messages << '\n';
  if (!options.is_default) {
    text << "persistence false\n"
            "connection_messages false\n"
            "sys_interval 0\n"
         << "set_tcp_nodelay " << (options.nodelay ? "true" : "false") << '\n'
         << "max_queued_bytes " << options.bytes << '\n';
  }
  return text.str();
}

/// Returns the path of mosquitto's program.
[[nodiscard]] inline std::string broker_program() {
  return kit::find_program("mosquitto", "Debian, Ubuntu: apt install mosquitto");
}

/// Throws an AdapterError if mosquitto rejects the user's configuration, or if a trial cannot carry it out.
inline void check_user_file(const Options& options) {
  if (options.config.empty()) return;
  const std::string text = "listener " + std::to_string(kit::free_port("lo", SOCK_STREAM)) + " 127.0.0.1\n" +
                           read_user_file(options.config).lines + "log_dest stderr\n" + broker_settings(options);
  ask_mosquitto(options.config, geteuid() == 0 ? text + "user root\n" : text, broker_program());
}

/// Writes the broker's configuration, and returns the command that starts the broker.
[[nodiscard]] inline Companion broker(const Settings& settings) {
  const Options options(settings);
  // The port is chosen here, because mosquitto does not report which port it got for port 0. If another process takes
  // the port first, mosquitto prints an error and ends.
  const BrokerAddress address =
      settings.transport != "unix"
          ? BrokerAddress{kit::ipv4_text(settings.interface), kit::free_port(settings.interface, SOCK_STREAM)}
          : BrokerAddress{kit::unix_path(settings, "broker"), 0};
  std::ostringstream text;
  text << "listener " << address.port << ' ' << address.host << '\n';
  text << read_user_file(options.config).lines;
  // If root starts mosquitto without this line, it changes to the user mosquitto, who may not enter the trial's folder.
  if (geteuid() == 0) text << "user root\n";
  if (settings.security == Security::none) {
    text << "allow_anonymous true\n";
  } else {
    kit::Rendezvous(settings).leave("mosquitto.acl", permissions_text(settings));
    text << listener_text(settings, settings.scratch + "/mosquitto.acl");
  }
  text << "log_dest stderr\n"
          "log_type error\nlog_type warning\nlog_type notice\nlog_type information\n";
  text << broker_settings(options);
  kit::Rendezvous(settings).leave("mosquitto.conf", text.str());
  return {.name = "mosquitto at " + address.text(),
          .argv = {broker_program(), "-c", settings.scratch + "/mosquitto.conf"},
          .environment = {{broker_variable, address.text()}},
          .ready_pattern = "mosquitto version .* running"};
}

}  // namespace middlemark::mqtt
