// LCM over UDP multicast. README.md lists the LCM option that each setting sets.
#pragma once

#include <lcm/lcm.h>

#include <algorithm>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "ends.hpp"

namespace middlemark {

class Lcm {
 public:
  static void check(const Settings& settings) { lcm::Options{settings}; }

  explicit Lcm(const Settings& settings) : settings_(settings), options_(settings), group_(settings) {}

  [[nodiscard]] static Description describe() {
    // LCM does not pace the fragments of a message, so the whole message must fit into the receive buffer. If the
    // buffer is smaller than 1 MiB, messages of up to 1 MiB are allowed nevertheless, because most of them arrive.
    const std::size_t buffer = lcm::largest_receive_buffer();
    constexpr const char* multicast = "LCM has no discovery: messages go to a multicast group";
    const std::size_t most = std::clamp(buffer, std::size_t{1} << 20, std::size_t{64} << 20);
    return {
        .name = "lcm",
        .title = "LCM",
        // LCM has no function that returns its version, and the number in its library's file name is libtool's.
        .version = std::to_string(LCM_MAJOR_VERSION) + '.' + std::to_string(LCM_MINOR_VERSION) + '.' +
                   std::to_string(LCM_MICRO_VERSION),
        .library = kit::loaded_library(reinterpret_cast<const void*>(&lcm_create)).path,
        .licence = "LGPL-2.1-or-later",
        .transports = {{.name = "udp",
                        .carrier = "udp",
                        .patterns = every_pattern,
                        .participants_per_process = most_participants,
                        .discovery_by = multicast,
                        .receive = {Reception::poll,
                                    Reception::block},  // no listen: handlers run on the thread that calls lcm_handle()
                        .reliability = {Reliability::best_effort},
                        .max_bytes = most,
                        .max_bytes_advice =
                            most == buffer
                                ? "raise the limit of receive buffers: sudo sysctl -w net.core.rmem_max=67108864"
                                : "",
                        .varying_sizes = true,
                        .wire = "lcm"},
                       {.name = default_configuration,
                        .carrier = "udp",
                        .patterns = every_pattern,
                        .participants_per_process = most_participants,
                        .discovery_by = multicast,
                        .receive = {Reception::poll, Reception::block},
                        .reliability = {Reliability::best_effort},
                        .max_bytes = lcm::usual_receive_buffer(),
                        .max_bytes_advice =
                            "raise the default receive buffer of sockets: sudo sysctl -w net.core.rmem_default=4194304",
                        .varying_sizes = true}},
        .own_threads = true,
        .native = kit::native_table<lcm::Native>()};
  }

  [[nodiscard]] lcm::Publisher publisher(const Topic& topic, unsigned /*index*/) {
    return {group_, options_, settings_, topic};
  }
  [[nodiscard]] lcm::Subscriber subscriber(const Topic& topic, unsigned index) {
    return {group_, options_, settings_, topic, index};
  }

  [[nodiscard]] OwnSettings own_settings() const {
    kit::AppliedCode code;
    code.begin("publisher and subscriber").call("lcm_create", "\"udpm://GROUP:PORT" + lcm::url_options(options_) + '"');
    for (const Topic& topic : settings_.endpoints) {
      if (const auto messages = lcm::queue_of(options_, topic))
        code.begin("subscriber").call("lcm_subscription_set_queue_capacity", "subscription", *messages);
    }
    return code.settings(Language::c);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  const Settings settings_;
  const lcm::Options options_;
  const lcm::Group group_;
};

static_assert(fulfils_contract<Lcm>);

}  // namespace middlemark
