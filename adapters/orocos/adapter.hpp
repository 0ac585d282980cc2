// OROCOS RTT: data-flow ports. README.md lists the RTT option that each setting sets.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>

#include "ports.hpp"

namespace middlemark {

namespace orocos {

/// Starts RTT and, if the trial has several processes, the CORBA broker.
class Runtime : kit::Pinned {
 public:
  explicit Runtime(const Settings& settings) : orb_(!settings.one_process) {
    setenv("ORO_LOGFILE", "/dev/null", 0);  // without this RTT writes orocos.log in the current folder
    __os_init(0, nullptr);
    register_octets();
    if (!orb_) return;
    std::size_t largest = 0;
    for (const Topic& topic : settings.endpoints) largest = std::max(largest, topic.message_bytes);
    std::vector<std::string> words{"orocos", "-ORBendPoint", "giop:tcp:" + kit::ipv4_text(settings.interface) + ':',
                                   "-ORBgiopMaxMsgSize", std::to_string(largest + (std::size_t{2} << 20))};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    if (!RTT::corba::TaskContextServer::InitOrb(static_cast<int>(arguments.size()), arguments.data()))
      throw AdapterError("orocos: TaskContextServer::InitOrb() failed");
    RTT::corba::TaskContextServer::ThreadOrb();
  }
  ~Runtime() {
    if (orb_) {
      RTT::corba::TaskContextServer::ShutdownOrb();
      RTT::corba::TaskContextServer::DestroyOrb();
    }
    __os_exit();
  }

 private:
  const bool orb_;
};

}  // namespace orocos

class Orocos : kit::Pinned {
 public:
  explicit Orocos(const Settings& settings) : runtime_(settings), trial_(settings) {}
  ~Orocos() { trial_.close(); }

  [[nodiscard]] static Description describe() {
    const auto transport = [](const char* name, const char* carrier, std::vector<int> processes) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .processes = std::move(processes),
                       .receive = {Reception::listen, Reception::poll},
                       .max_depth = orocos::deepest_buffer,
                       .varying_sizes = true};
    };
    Transport queue = transport(orocos::mqueue, "message-queue", {1, 2});
    queue.reliability = {Reliability::best_effort};
    queue.max_bytes = kit::kernel_limit("fs/mqueue/msgsize_max", 8192);
    queue.max_bytes_advice = "sudo sysctl fs.mqueue.msgsize_max=<bytes>, and ulimit -q of several times as much";
    queue.max_depth = static_cast<std::uint32_t>(kit::kernel_limit("fs/mqueue/msg_max", 10));
    queue.keep_all = false;
    Transport by_default = transport(default_configuration, "any", {1, 2});
    by_default.reliability = {Reliability::best_effort};
    by_default.max_depth = 1;  // the newest message
    by_default.keep_all = false;
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&__os_exit));
    return {.name = "orocos",
            .title = "OROCOS RTT",
            .version = library.version,
            .library = library.path,
            .licence = "GPL-2.0-only WITH mif-exception",
            .transports = {transport(orocos::intraprocess, "process-memory", {1}), transport(orocos::corba, "tcp", {2}),
                           queue, by_default},
            .own_threads = true,
            .residue = {"/dev/mqueue/{scope}*"},
            .native = kit::native_table<orocos::Native>()};
  }

  static void check(const Settings& settings) { orocos::Options{settings}; }

  [[nodiscard]] orocos::Publisher publisher(const Topic& topic, unsigned index) { return {trial_, topic, index}; }
  [[nodiscard]] orocos::Subscriber subscriber(const Topic& topic, unsigned index) { return {trial_, topic, index}; }

 private:
  const orocos::Runtime runtime_;
  orocos::Trial trial_;
};

static_assert(fulfils_contract<Orocos>);

}  // namespace middlemark
