// gRPC for C++. README.md lists which settings of gRPC each setting of a trial sets.
#pragma once

#include <grpc/grpc.h>

#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>

#include "call.hpp"
#include "topic.hpp"

namespace middlemark {

class Grpc {
 public:
  explicit Grpc(const Settings& settings) : trial_((kit::allow_many_descriptors(), settings)) {
    grpc_init();  // never followed by grpc_shutdown(), which may wait 10 s for one of gRPC's threads
  }

  [[nodiscard]] static Description describe() {
    const auto transport = [](const char* name, const char* carrier) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .reliability = {Reliability::reliable},
                       .varying_sizes = true,
                       .services = true};
    };
    Transport unconfigured = transport(default_configuration, "tcp");
    unconfigured.max_bytes = rpc::usual_receive_bytes - rpc::wrapping_bytes;
    unconfigured.max_bytes_advice = "gRPC's default limit is 4 MiB; the transport tcp has no limit";
    return {.name = "grpc",
            .title = "gRPC",
            .version = grpc::Version(),
            .library = kit::loaded_library(reinterpret_cast<const void*>(&grpc::Version)).path,
            .licence = "Apache-2.0",
            .transports = {transport("tcp", "tcp"), transport("uds", "unix-socket"), unconfigured},
            .native = kit::native_table<rpc::Native>()};
  }

  static void check(const Settings& settings) { rpc::Options{settings}; }

  [[nodiscard]] rpc::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] rpc::Subscriber subscriber(const Topic& topic, unsigned /*index*/) { return {trial_, topic}; }
  [[nodiscard]] rpc::Client client(const Topic& service, unsigned /*index*/) { return {trial_, service}; }
  [[nodiscard]] rpc::Server server(const Topic& service, unsigned /*index*/) { return {trial_, service}; }
  [[nodiscard]] OwnSettings own_settings() const { return trial_.options.own_settings(); }

 private:
  const rpc::Trial trial_;
};

static_assert(fulfils_contract<Grpc>);

}  // namespace middlemark
