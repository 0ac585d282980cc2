// NNG through its C interface. README.md lists the NNG option that each setting sets.
#pragma once

#include <nng/nng.h>

#include <string>
#include <string_view>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>

#include "exchange.hpp"
#include "topic.hpp"

namespace middlemark {

class Nng {
 public:
  explicit Nng(const Settings& settings) : trial_((kit::allow_many_descriptors(), settings)) {}

  [[nodiscard]] static Description describe() {
    const auto transport = [](const char* name, const char* carrier, std::vector<int> processes) {
      const bool within = std::string_view(carrier) == "process-memory";
      return Transport{.name = name,
                       .carrier = carrier,
                       .processes = std::move(processes),
                       .loan = {false, true},
                       .hands_over = within ? std::vector{true} : std::vector<bool>{},
                       .max_depth = nng::deepest_queue,
                       .varying_sizes = true,
                       .services = true};
    };
    return {.name = "nng",
            .title = "NNG (nanomsg-next-generation)",
            .version = nng_version(),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&nng_version)).path,
            .licence = "MIT",
            .transports = {transport("ipc", "unix-socket", {1, 2}), transport("tcp", "tcp", {1, 2}),
                           transport("inproc", "process-memory", {1}), transport(default_configuration, "tcp", {1, 2})},
            .own_threads = true,
            .native = kit::native_table<nng::Native>()};
  }

  static void check(const Settings& settings) { nng::Options{settings}; }

  [[nodiscard]] nng::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] nng::Subscriber subscriber(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] nng::Client client(const Topic& service, unsigned /*index*/) { return {trial_, service}; }
  [[nodiscard]] nng::Server server(const Topic& service, unsigned /*index*/) { return {trial_, service}; }

  [[nodiscard]] OwnSettings own_settings() const { return trial_.applied.settings(Language::c); }
  [[nodiscard]] std::vector<std::string> notes() const { return trial_.options.notes(trial_.settings.endpoints); }

 private:
  const nng::Trial trial_;
};

static_assert(fulfils_contract<Nng>);

}  // namespace middlemark
