// eCAL 6 through its C++ API. README.md lists which settings of eCAL each setting of a trial sets.
#pragma once

#include <ecal/ecal.h>

#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/pinned.hpp>

#include "ends.hpp"
#include "options.hpp"

namespace middlemark {

class Ecal : kit::Pinned {
 public:
  explicit Ecal(const Settings& settings) : settings_(settings), options_(settings) {
    eCAL::Configuration configuration = options_.configuration();
    if (!eCAL::Initialize(configuration, settings.scope, eCAL::Init::Publisher | eCAL::Init::Subscriber))
      throw AdapterError("ecal: eCAL::Initialize() failed");
  }
  ~Ecal() { eCAL::Finalize(); }

  [[nodiscard]] static Description describe() {
    const auto transport = [](const char* name, const char* carrier, std::vector<Reliability> reliability) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .receive = {Reception::listen},
                       .reliability = std::move(reliability),
                       .max_depth = 1,  // a subscriber has no queue
                       .keep_all = false,
                       .varying_sizes = true};
    };
    Transport memory = transport(ecal::shm, "shared-memory", {Reliability::best_effort, Reliability::reliable});
    memory.segments = {"ecal_*"};
    memory.keep_all = true;  // possible because a reliable publisher waits for the receipt of each message
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&eCAL::Finalize));
    return {.name = "ecal",
            .title = "Eclipse eCAL",
            .version = library.version,
            .library = library.path,
            .licence = "Apache-2.0",
            .transports = {memory, transport(ecal::udp, "udp", {Reliability::best_effort}),
                           transport(ecal::tcp, "tcp", {Reliability::best_effort}),
                           transport(default_configuration, "any", {Reliability::best_effort})},
            .own_threads = true,
            .residue = {"/dev/shm/ecal_*"},
            .native = kit::native_table<ecal::Native>()};
  }

  static void check(const Settings& settings) { ecal::Options{settings}; }

  [[nodiscard]] ecal::Publisher publisher(const Topic& topic, unsigned index) {
    return {options_, settings_, topic, index};
  }
  [[nodiscard]] ecal::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {options_, settings_, topic, index};
  }

 private:
  const Settings settings_;
  const ecal::Options options_;
};

static_assert(fulfils_contract<Ecal>);

}  // namespace middlemark
