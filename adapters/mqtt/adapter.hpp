// MQTT through libmosquitto, with mosquitto as the broker. README.md says how each setting becomes one of theirs.
#pragma once

#include <mosquitto.h>

#include <string>
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
  explicit Mqtt(const Settings& settings)
      : settings_(settings), options_(settings), broker_(mqtt::BrokerAddress::of_the_trial()) {
    mosquitto_lib_init();
  }
  ~Mqtt() { mosquitto_lib_cleanup(); }

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int revision = 0;
    mosquitto_lib_version(&major, &minor, &revision);
    return {
        .name = "mqtt",
        .title = "MQTT (Eclipse Mosquitto)",
        .version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(revision),
        .library = kit::loaded_library(reinterpret_cast<const void*>(&mosquitto_lib_version)).path,
        .licence = "EPL-2.0 OR BSD-3-Clause",
        .transports =
            {{.name = "tcp", .carrier = "tcp", .companions = true, .varying_sizes = true, .max_history = 1},
             {.name = "unix", .carrier = "unix-socket", .companions = true, .varying_sizes = true, .max_history = 1},
             {.name = as_it_comes, .carrier = "tcp", .companions = true, .varying_sizes = true, .max_history = 1}},
        .own_threads = true,
        .native = kit::native_table<mqtt::Native>()};
  }

  static void check(const Settings& settings) { mqtt::Options{settings}; }
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

static_assert(fulfils_contract<Mqtt>);

}  // namespace middlemark
