// MQTT: libmosquitto with the broker mosquitto. README.md lists which option of the library or of the broker each setting
// sets.
#pragma once

#include <mosquitto.h>

#include <string>
#include <string_view>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/pinned.hpp>

#include "broker.hpp"
#include "ends.hpp"
#include "options.hpp"

namespace middlemark {

class Mqtt : kit::Pinned {
 public:
  explicit Mqtt(const Settings& settings) : trial_(settings) { mosquitto_lib_init(); }
  ~Mqtt() { mosquitto_lib_cleanup(); }

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int revision = 0;
    mosquitto_lib_version(&major, &minor, &revision);
    return {.name = "mqtt",
            .title = "MQTT (Eclipse Mosquitto)",
            .version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(revision),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&mosquitto_lib_version)).path,
            .licence = "EPL-2.0 OR BSD-3-Clause",
            .transports = {transport("tcp", "tcp"), transport("unix", "unix-socket"),
                           transport(default_configuration, "tcp")},
            .credentials = mqtt::has_tls ? std::vector{Credential::x509} : std::vector<Credential>{},
            .own_threads = true,
            .native = kit::native_table<mqtt::Native>()};
  }

  static void check(const Settings& settings) { mqtt::check_user_file(mqtt::Options(settings)); }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) { return {mqtt::broker(settings)}; }

  [[nodiscard]] mqtt::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] mqtt::Subscriber subscriber(const Topic& topic, unsigned index) { return {trial_, topic, index}; }

  [[nodiscard]] std::string protected_by() const { return trial_.protected_by; }
  [[nodiscard]] OwnSettings own_settings() const {
    OwnSettings settings = trial_.applied.settings(Language::c);
    settings.text.insert(0, "// mosquitto.conf\n" + kit::commented(mqtt::broker_settings(trial_.options)));
    return settings;
  }
  [[nodiscard]] std::vector<std::string> notes() const { return trial_.options.notes; }

 private:
  [[nodiscard]] static Transport transport(const char* name, const char* carrier) {
    const bool has_tls = mqtt::has_tls && std::string_view(carrier) == "tcp";
    Transport made{.name = name, .carrier = carrier, .companions = true, .varying_sizes = true, .max_history = 1};
    made.patterns = every_pattern;
    made.participants_per_process = most_participants;
    made.discovery_by = "clients know the broker's address, and the broker knows who subscribes";
    if (std::string_view(name) == "tcp") made.wire = "mqtt";
    made.via = {Via::router};
    made.via_why = "every message passes through the broker";
    if (has_tls) made.security.push_back(Security::encrypted);
    made.permissions = has_tls;
    made.security_why = has_tls         ? "TLS always encrypts, and a password without TLS can be read on the network"
                        : mqtt::has_tls ? "mosquitto has no TLS over Unix sockets"
                                        : "it was built without OpenSSL 3 (Debian, Ubuntu: apt install libssl-dev)";
    return made;
  }

  mqtt::Trial trial_;
};

static_assert(fulfils_contract<Mqtt>);

}  // namespace middlemark
