// OpenRTM-aist: data ports. README.md lists the OpenRTM option that each setting sets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/pinned.hpp>

#include "options.hpp"
#include "ports.hpp"
#include "runtime.hpp"

namespace middlemark {

class OpenRtm : kit::Pinned {
 public:
  explicit OpenRtm(const Settings& settings) : runtime_(settings), trial_(settings) {}

  [[nodiscard]] static Description describe() {
    const auto transport = [](const char* name, const char* carrier, std::vector<int> processes) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .processes = std::move(processes),
                       .receive = {Reception::block, Reception::listen, Reception::poll},
                       .max_depth = openrtm::deepest_buffer,
                       .varying_sizes = true};
    };
    Transport segment = transport(openrtm::shm, "shared-memory", {2});
    segment.segments = {"*.openrtm.*"};
    Transport direct = transport(openrtm::direct, "process-memory", {1});
    direct.receive = {Reception::listen};
    Transport by_default = transport(default_configuration, "any", {1, 2});
    by_default.receive = {Reception::listen, Reception::poll};
    by_default.reliability = {Reliability::best_effort};
    by_default.max_bytes = 2'000'000;
    by_default.max_bytes_advice = "omniORB's giopMaxMsgSize is 2 MiB: another transport sets it";
    by_default.max_depth = 1;  // its buffer has room for 8 messages of all publishers
    by_default.keep_all = false;
    by_default.own_network = true;
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&RTC::Manager::terminate));
    return {.name = "openrtm",
            .title = "OpenRTM-aist",
            .version = library.version,
            .library = library.path,
            .licence = "LGPL-2.1-or-later",
            .transports = {transport(openrtm::tcp, "tcp", {2}), transport(openrtm::uds, "unix-socket", {2}), segment,
                           transport(openrtm::intraprocess, "process-memory", {1}), direct, by_default},
            .own_threads = true,
            .residue = {"/dev/shm/{scope}.openrtm.*"},
            .native = kit::native_table<openrtm::Native>()};
  }

  static void check(const Settings& settings) { openrtm::Options{settings}; }

  [[nodiscard]] openrtm::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] openrtm::Subscriber subscriber(const Topic& topic, unsigned index) { return {trial_, topic, index}; }

 private:
  const openrtm::Runtime runtime_;
  openrtm::Trial trial_;
};

static_assert(fulfils_contract<OpenRtm>);

}  // namespace middlemark
