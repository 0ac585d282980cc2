// Starts MOOSDB, the process through which every message goes. Each trial starts its own MOOSDB, on its own port.
#pragma once

#include <sys/socket.h>

#include <cstdlib>
#include <string>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::moos {

/// The environment variable with the address of the MOOSDB, such as "127.0.0.1:40123". The launcher sets it for the
/// workers.
inline constexpr const char* database_variable = "MIDDLEMARK_MOOSDB_AT";

struct Database {
  std::string host;
  int port = 0;

  [[nodiscard]] std::string text() const { return host + ":" + std::to_string(port); }

  [[nodiscard]] static Database of_the_trial() {
    const char* const value = std::getenv(database_variable);
    const std::string text = value != nullptr ? value : "";
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    Database database{text.substr(0, colon), colon < text.size() ? std::atoi(text.c_str() + colon + 1) : 0};
    if (database.port > 0) return database;
    throw AdapterError(std::string("moos: ") + database_variable + " = '" + text + "' is not an address",
                       "start the MOOSDB that 'middlemark-worker-moos --companions' names, with its environment");
  }
};

[[nodiscard]] inline std::string database_program() {
#ifdef MIDDLEMARK_MOOSDB  // the MOOSDB that was built with the linked library
  return MIDDLEMARK_MOOSDB;
#else
  return kit::find_program("MOOSDB", "MOOSDB is part of MOOS: add its folder to the PATH");
#endif
}

[[nodiscard]] inline Companion database(const Settings& settings) {
  const Options options(settings);
  const Database at{kit::ipv4_text(settings.interface), kit::free_port(settings.interface, SOCK_STREAM)};
  Companion companion{.name = "MOOSDB at " + at.text(),
                      .argv = {kit::find_program("prlimit", "install util-linux"),
                               "--data=" + std::to_string(kit::physical_memory() /
                                                          2),  // because MOOSDB queues messages without a limit
                               kit::find_program("stdbuf", "install coreutils"),
                               "-oL",  // flush each line: the launcher waits for ready_pattern
                               database_program(),
                               settings.scratch + "/none.moos",  // no such file: by default MOOSDB reads Mission.moos
                               "--moos_port=" + std::to_string(at.port), "--moos_community=" + settings.scope,
                               "--moos_suicide_disable",  // without this MOOSDB joins a multicast group
                               "--moos_no_colour"},
                      .environment = {{database_variable, at.text()}},
                      .ready_pattern = "Connect to this server on port"};
  if (options.response_ms > 0) companion.argv.push_back("--response=*:" + std::to_string(options.response_ms));
  // By default MOOSDB prints a line for every late packet. In a flood every packet is late.
  if (!options.is_default) companion.argv.push_back("--warning_latency=1000000000");
  return companion;
}

}  // namespace middlemark::moos
