// ZeroMQ through libzmq's C interface. README.md lists the ZeroMQ option that each setting sets.
#pragma once

#include <zmq.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>

#include "exchange.hpp"
#include "topic.hpp"

namespace middlemark {

class ZeroMq {
 public:
  explicit ZeroMq(const Settings& settings) : trial_((kit::allow_many_descriptors(), settings)) {}

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    const bool curve = zmq_has("curve") == 1;
    const auto transport = [curve](const char* name, const char* carrier, std::vector<int> processes) {
      const bool crosses = std::string_view(carrier) != "process-memory";
      std::vector<Security> security{Security::none};
      if (curve && crosses) security.push_back(Security::encrypted);
      return Transport{.name = name,
                       .carrier = carrier,
                       .processes = std::move(processes),
                       .patterns = crosses ? every_pattern : Transport{}.patterns,
                       .participants_per_process = most_participants,
                       .discovery_by = "ZeroMQ has no discovery; files of the trial contain the addresses",
                       .receive = {Reception::poll, Reception::block},
                       .loan = {false, true},
                       .hands_over = crosses ? std::vector<bool>{} : std::vector{true},
                       .varying_sizes = true,
                       .services = true,
                       .security = std::move(security),
                       .security_why = !curve    ? "this libzmq was built without CURVE"
                                       : crosses ? "CURVE always encrypts"
                                                 : "CURVE does not apply within a process",
                       .wire = std::string_view(name) == "tcp" ? "zmtp" : ""};
    };
    return {.name = "zeromq",
            .title = "ZeroMQ (libzmq)",
            .version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&zmq_ctx_new)).path,
            .licence = "LGPL-3.0-or-later WITH LGPL-3.0-linking-exception",
            .transports = {transport("ipc", "unix-socket", {1, 2}), transport("tcp", "tcp", {1, 2}),
                           transport("inproc", "process-memory", {1}), transport(default_configuration, "tcp", {1, 2})},
            .credentials = {Credential::curve},
            .own_threads = true,
            .native = kit::native_table<zeromq::Native>()};
  }

  static void check(const Settings& settings) { zeromq::Options{settings}; }

  [[nodiscard]] zeromq::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] zeromq::Subscriber subscriber(const Topic& topic, unsigned /*index*/) { return {trial_, topic}; }
  [[nodiscard]] zeromq::Client client(const Topic& service, unsigned /*index*/) { return {trial_, service}; }
  [[nodiscard]] zeromq::Server server(const Topic& service, unsigned /*index*/) { return {trial_, service}; }

  [[nodiscard]] std::string protected_by() const {
    return trial_.curve ? "CURVE (CurveZMQ): Curve25519, XSalsa20-Poly1305" : "";
  }
  [[nodiscard]] OwnSettings own_settings() const { return trial_.applied.settings(Language::c); }
  [[nodiscard]] std::vector<std::string> notes() const { return trial_.options.notes(trial_.settings.endpoints); }

 private:
  const zeromq::Trial trial_;
};

static_assert(fulfils_contract<ZeroMq>);

}  // namespace middlemark
