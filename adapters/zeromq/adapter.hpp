// ZeroMQ through libzmq's C interface. README.md says how each setting becomes one of the middleware's own.
#pragma once

#include <zmq.h>

#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>
#include <sockets/descriptor.hpp>

#include "exchange.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "topic.hpp"

namespace middlemark {

class ZeroMq {
 public:
  explicit ZeroMq(const Settings& settings)
      : settings_(settings), options_((sockets::allow_many_descriptors(), settings)), context_(options_.io_threads) {}

  [[nodiscard]] static Description describe() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    Description description;
    description.name = "zeromq";
    description.title = "ZeroMQ (libzmq)";
    description.version = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
    description.library = loaded_library(reinterpret_cast<const void*>(&zmq_ctx_new)).path;
    description.licence = "LGPL-3.0-or-later WITH LGPL-3.0-linking-exception";
    description.request_reply = true;
    description.own_threads = true;
    const auto add = [&description](const char* name, const char* carrier, std::vector<int> processes) {
      Transport transport;
      transport.name = name;
      transport.carrier = carrier;
      transport.processes = std::move(processes);
      transport.receive = {"poll", "block"};
      description.transports.push_back(std::move(transport));
    };
    add("ipc", "unix-socket", {1, 2});
    add("tcp", "tcp", {1, 2});
    add("inproc", "process-memory", {1});
    description.native = zeromq::Options::keys();
    return description;
  }

  [[nodiscard]] zeromq::Publisher publisher(const Topic& topic, unsigned index) {
    return {context_, options_, settings_, topic, index};
  }
  [[nodiscard]] zeromq::Subscriber subscriber(const Topic& topic, unsigned /*index*/) {
    return {context_, options_, settings_, topic};
  }
  [[nodiscard]] zeromq::Client client(const Topic& service, unsigned /*index*/) {
    return {context_, options_, settings_, service};
  }
  [[nodiscard]] zeromq::Server server(const Topic& service, unsigned /*index*/) {
    return {context_, options_, settings_, service};
  }

  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  const Settings settings_;
  const zeromq::Options options_;
  const zeromq::Context context_;
};

static_assert(Adapter<ZeroMq> && HasRequestReply<ZeroMq> && HasNotes<ZeroMq>);
static_assert(CountsPublishers<zeromq::Subscriber>);

}  // namespace middlemark
