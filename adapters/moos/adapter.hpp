// MOOS: clients of a MOOSDB, which has one variable per topic. README.md lists the MOOS option that each setting sets.
#pragma once

#include <MOOS/libMOOS/MOOSVersion.h>

#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/pinned.hpp>

#include "database.hpp"
#include "ends.hpp"
#include "options.hpp"

namespace middlemark {

class Moos : kit::Pinned {
 public:
  explicit Moos(const Settings& settings)
      : settings_(settings), options_(settings), database_(moos::Database::of_the_trial()) {}

  [[nodiscard]] static Description describe() {
    const auto over = [](const char* name) {
      return Transport{.name = name,
                       .carrier = "tcp",
                       .receive = {Reception::block, Reception::listen},
                       .keep_all = false,
                       .companions = true,
                       .own_network = true,
                       .varying_sizes = true,
                       .max_history = 1,
                       .via = {Via::router},
                       .via_why = "every message passes through MOOSDB, its broker"};
    };
    return {.name = "moos",
            .title = "MOOS",
            .version = MOOS_VERSION_NUMBER,
            .library = kit::loaded_library(reinterpret_cast<const void*>(&MOOSTime)).path,
            .licence = "LGPL-2.1-only",
            .transports = {over("tcp"), over(default_configuration)},
            .own_threads = true,
            .native = kit::native_table<moos::Native>()};
  }

  static void check(const Settings& settings) { moos::Options{settings}; }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return {moos::database(settings)};
  }

  [[nodiscard]] moos::Publisher publisher(const Topic& topic, unsigned index) {
    return {database_, options_, settings_, topic, index};
  }
  [[nodiscard]] moos::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {database_, options_, settings_, topic, index};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (settings_.pattern != Pattern::stream) return {};
    return {
        "MOOSDB never makes a publisher wait, and queues the messages that a subscriber has not read without a limit; "
        "MOOSDB ends when it uses half of the machine's memory"};
  }

 private:
  const Settings settings_;
  const moos::Options options_;
  const moos::Database database_;
};

static_assert(fulfils_contract<Moos>);

}  // namespace middlemark
