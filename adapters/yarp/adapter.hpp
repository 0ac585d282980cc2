// YARP's ports and carriers. README.md lists the YARP option that each setting sets.
#pragma once

#include <yarp/conf/version.h>
#include <yarp/os/Network.h>

#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "network.hpp"
#include "options.hpp"
#include "publisher.hpp"
#include "service.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Yarp {
 public:
  [[nodiscard]] static Description describe() {
    const auto over = [](const char* name, const char* carrier) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .companions = true,
                       .own_network = true,
                       .varying_sizes = true,
                       .services = carrier == std::string(yarp::tcp)};
    };
    Transport datagrams = over(yarp::udp, "udp");
    datagrams.reliability = {Reliability::best_effort};
    datagrams.max_bytes = 65'000;  // one datagram: if a datagram of a larger message is lost, YARP mixes two messages
    Transport shared = over(yarp::shmem, "shared-memory");
    shared.segments = {"SYSV*"};
    Transport within = over(yarp::local, "process-memory");
    within.processes = {1};
    Transport own = over(default_configuration, "tcp");
    own.reliability = {Reliability::reliable};
    return {.name = "yarp",
            .title = "YARP",
            .version = YARP_VERSION,
            .library = kit::loaded_library(reinterpret_cast<const void*>(&::yarp::os::NetworkBase::initialized)).path,
            .licence = "BSD-3-Clause",
            .transports = {over(yarp::tcp, "tcp"), over(yarp::fast_tcp, "tcp"), datagrams, shared,
                           over(yarp::unix_stream, "unix-socket"), within, own},
            .own_threads = true,
            .residue = {"sysv:*"},
            .native = kit::native_table<yarp::Native>()};
  }

  static void check(const Settings& settings) { yarp::Options{settings}; }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return {yarp::name_server(settings)};
  }

  explicit Yarp(const Settings& settings) : settings_(settings), options_(settings), network_(options_) {}

  [[nodiscard]] yarp::Publisher publisher(const Topic& topic, unsigned index) {
    return {settings_, options_, topic, index};
  }
  [[nodiscard]] yarp::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {settings_, options_, topic, index};
  }
  [[nodiscard]] yarp::Client client(const Topic& service, unsigned index) {
    return {settings_, options_, service, index};
  }
  [[nodiscard]] yarp::Server server(const Topic& service, unsigned /*index*/) { return {settings_, service}; }

  [[nodiscard]] OwnSettings own_settings() const {
    kit::AppliedCode code;
    for (const Topic& topic : settings_.endpoints) {
      kit::CodeBlock& publisher = code.begin("publisher");
      publisher.call("yarp::os::Network::connect", "from", "to", '"' + options_.carrier + '"');
      if (topic.service) continue;
      publisher.call("port.enableBackgroundWrite", !options_.unbuffered);
      const auto room = options_.queue(topic);
      kit::CodeBlock& subscriber = code.begin("subscriber");
      subscriber.call("queue.setStrict", room.has_value());
      if (room) subscriber.line("// at most " + std::to_string(*room) + " messages wait in the queue");
    }
    return code.settings(Language::cpp);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  const Settings settings_;
  const yarp::Options options_;
  const yarp::Network network_;
};

static_assert(fulfils_contract<Yarp>);

}  // namespace middlemark
