// D-Bus through libdbus, directly between peers or through dbus-daemon. README.md lists which settings of D-Bus each
// setting of a trial sets.
#pragma once

#include <dbus/dbus.h>

#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>

#include "exchange.hpp"
#include "topic.hpp"

namespace middlemark {

class DBus {
 public:
  explicit DBus(const Settings& settings) : trial_((kit::allow_many_descriptors(), settings)) {}

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int micro = 0;
    dbus_get_version(&major, &minor, &micro);
    const auto transport = [](const char* name, std::vector<Reliability> reliability, bool companions) {
      return Transport{.name = name,
                       .carrier = "unix-socket",
                       .patterns = every_pattern,
                       .participants_per_process = most_participants,
                       .discovery_by = companions
                                           ? "clients know the bus's address, and dbus-daemon knows who subscribes"
                                           : "files of the trial contain the peers' addresses",
                       .receive = {Reception::poll, Reception::block},
                       .reliability = std::move(reliability),
                       .max_bytes = dbus::largest_array,
                       .companions = companions,
                       .varying_sizes = true,
                       .services = true,
                       .via = {companions ? Via::router : Via::direct},
                       .via_why = companions ? "every message passes through dbus-daemon; transport peer has no broker"
                                             : "only the other transports have a broker"};
    };
    const std::vector both{Reliability::reliable, Reliability::best_effort};
    return {.name = "dbus",
            .title = "D-Bus (libdbus)",
            .version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&dbus_get_version)).path,
            .licence = "AFL-2.1 OR GPL-2.0-or-later",
            .transports = {transport("bus", both, true), transport("peer", {Reliability::reliable}, false),
                           transport(default_configuration, both, true)},
            .native = kit::native_table<dbus::Native>()};
  }

  static void check(const Settings& settings) { dbus::Options{settings}; }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    if (settings.transport == "peer") return {};
    return {dbus::bus(settings)};
  }

  [[nodiscard]] dbus::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] dbus::Subscriber subscriber(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] dbus::Client client(const Topic& service, unsigned index) { return {trial_, service, index}; }
  [[nodiscard]] dbus::Server server(const Topic& service, unsigned /*index*/) { return {trial_, service}; }

  /// Returns the daemon's configuration; nothing without a bus, because libdbus itself has no configuration.
  [[nodiscard]] OwnSettings own_settings() const {
    if (trial_.peer) return {};
    return {.language = Language::xml,
            .text = "<busconfig>\n" + dbus::limits_of(trial_.settings, trial_.options) + "</busconfig>\n"};
  }
  [[nodiscard]] std::vector<std::string> notes() const { return trial_.options.notes; }

 private:
  const dbus::Trial trial_;
};

static_assert(fulfils_contract<DBus>);

}  // namespace middlemark
