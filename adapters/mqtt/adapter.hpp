// MQTT through libmosquitto, with mosquitto as the broker. README.md says how each setting becomes one of theirs.
#pragma once

#include <mosquitto.h>

#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "broker.hpp"
#include "options.hpp"
#include "publisher.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Mqtt {
 public:
  explicit Mqtt(const Settings& settings)
      : settings_(settings), options_(settings), broker_(mqtt::BrokerAddress::of_the_trial()) {
    mosquitto_lib_init();
  }
  ~Mqtt() { mosquitto_lib_cleanup(); }
  Mqtt(const Mqtt&) = delete;
  Mqtt& operator=(const Mqtt&) = delete;

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int revision = 0;
    mosquitto_lib_version(&major, &minor, &revision);
    Description description;
    description.name = "mqtt";
    description.title = "MQTT (Eclipse Mosquitto)";
    description.version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(revision);
    description.library = loaded_library(reinterpret_cast<const void*>(&mosquitto_lib_version)).path;
    description.licence = "EPL-2.0 OR BSD-3-Clause";
    description.own_threads = true;
    for (const auto& [name, carrier] : {std::pair{"tcp", "tcp"}, std::pair{"unix", "unix-socket"}}) {
      Transport transport;
      transport.name = name;
      transport.carrier = carrier;
      transport.companions = true;
      description.transports.push_back(std::move(transport));
    }
    description.native = mqtt::Options::keys();
    return description;
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) { return {mqtt::broker(settings)}; }

  [[nodiscard]] mqtt::Publisher publisher(const Topic& topic, unsigned index) {
    return {broker_, options_, settings_, topic, index};
  }
  [[nodiscard]] mqtt::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {broker_, options_, settings_, topic, index};
  }

  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  const Settings settings_;
  const mqtt::Options options_;
  const mqtt::BrokerAddress broker_;
};

static_assert(Adapter<Mqtt> && HasCompanions<Mqtt> && HasNotes<Mqtt>);

}  // namespace middlemark
