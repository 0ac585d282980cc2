// The broker: mosquitto, with a configuration and an address of the trial's own.
#pragma once

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
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

namespace middlemark::mqtt {

/// Set for the workers: "127.0.0.1:40123", or the path of a Unix socket.
inline constexpr const char* broker_variable = "MIDDLEMARK_MQTT_BROKER";

struct BrokerAddress {
  std::string host;  ///< or a path
  int port = 0;      ///< 0: libmosquitto takes `host` for the path of a Unix socket

  [[nodiscard]] std::string text() const { return port == 0 ? host : host + ":" + std::to_string(port); }

  [[nodiscard]] static BrokerAddress of_the_trial() {
    const char* const told = std::getenv(broker_variable);
    const std::string_view text = told != nullptr ? told : "";
    if (text.starts_with('/')) return {std::string(text), 0};
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    BrokerAddress address{std::string(text.substr(0, colon)), 0};
    const char* const last = text.data() + text.size();
    if (colon == text.size() || std::from_chars(text.data() + colon + 1, last, address.port).ptr != last ||
        address.port <= 0) {
      throw AdapterError(std::string("mqtt: ") + broker_variable + " = '" + std::string(text) + "' is no address",
                         "start the broker that 'middlemark-worker-mqtt --companions' names, with its environment");
    }
    return address;
  }
};

/// The user's own, without what a trial of its own needs: another listener would be another broker's.
[[nodiscard]] inline std::string user_lines(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream file(path);
  if (!file) throw AdapterError("mqtt: config: " + path + " cannot be read");
  std::string kept;
  for (std::string line; std::getline(file, line);) {
    std::string word;
    std::istringstream(line) >> word;
    const bool ours = word == "listener" || word == "port" || word == "bind_address" || word == "user" ||
                      word == "pid_file" || word == "allow_anonymous" || word.starts_with("log_") ||
                      word.starts_with("persistence") || word == "cafile" || word == "capath" || word == "certfile" ||
                      word == "keyfile" || word == "require_certificate" || word.starts_with("use_") ||
                      word == "acl_file" || word == "tls_version";
    if (!ours) kept += line + '\n';
  }
  return kept;
}

/// What the clients of a process have in common.
struct Trial : kit::Trial<Options> {
  using kit::Trial<Options>::Trial;

  const BrokerAddress broker = BrokerAddress::of_the_trial();
  std::string protected_by{};  ///< of the client that connected last; empty: nothing protects
};

/// Writes the configuration and says how to start the broker with it.
[[nodiscard]] inline Companion broker(const Settings& settings) {
  const Options options(settings);
  // mosquitto cannot listen on port 0 and say which it got. Should the port be taken before it listens, it says so and ends.
  const BrokerAddress address =
      settings.transport != "unix"
          ? BrokerAddress{kit::ipv4_text(settings.interface), kit::free_port(settings.interface, SOCK_STREAM)}
          : BrokerAddress{kit::unix_path(settings, "broker"), 0};
  std::ostringstream text;
  text << "listener " << address.port << ' ' << address.host << '\n';
  text << user_lines(options.config);
  // Started by root it would become the user mosquitto, who may not enter the trial's folder.
  if (geteuid() == 0) text << "user root\n";
  if (settings.security == Security::none) {
    text << "allow_anonymous true\n";
  } else {
    kit::Rendezvous(settings).leave("mosquitto.acl", permissions_text(settings));
    text << listener_text(settings, settings.scratch + "/mosquitto.acl");
  }
  text << "log_dest stderr\n"
          "log_type error\nlog_type warning\nlog_type notice\nlog_type information\n";
  if (options.config.empty()) text << "max_inflight_messages " << options.max_inflight << '\n';
  if (options.messages != 0 || !options.as_it_is) text << "max_queued_messages " << options.messages << '\n';
  if (!options.as_it_is) {
    text << "persistence false\n"
            "connection_messages false\n"
            "sys_interval 0\n"
         << "set_tcp_nodelay " << (options.nodelay ? "true" : "false") << '\n'
         << "max_queued_bytes " << options.bytes << '\n';
  }
  kit::Rendezvous(settings).leave("mosquitto.conf", text.str());
  return {.name = "mosquitto at " + address.text(),
          .argv = {kit::find_program("mosquitto", "Debian, Ubuntu: apt install mosquitto"), "-c",
                   settings.scratch + "/mosquitto.conf"},
          .environment = {{broker_variable, address.text()}},
          .ready_pattern = "mosquitto version .* running"};
}

}  // namespace middlemark::mqtt
