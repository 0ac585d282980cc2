// Starts the trial's name server, through which its ports find each other, and YARP's network in this process.
#pragma once

#include <yarp/os/Carriers.h>
#include <yarp/os/Network.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "connect.hpp"
#include "options.hpp"

#ifdef MIDDLEMARK_YARP_WHEEL  // the wheel's carriers are linked statically; an installed YARP loads them as plugins
void add_owned_shmem(const char* owner);
void add_owned_unix_stream(const char* owner);
#endif

namespace middlemark::yarp {

/// Returns the path of yarpserver: the wheel's, or that of the installed YARP whose library is loaded. Throws
/// AdapterError if there is none.
[[nodiscard]] inline std::string name_server_program() {
#ifdef MIDDLEMARK_YARP_WHEEL
  return MIDDLEMARK_YARP_WHEEL "/yarpserver";
#else
  return kit::find_program(
      "yarpserver", "it comes with YARP",
      kit::loaded_library(reinterpret_cast<const void*>(&::yarp::os::NetworkBase::initialized)).path);
#endif
}

/// Returns the command for a name server that keeps its data in memory and writes its address to a file in the trial's folder,
/// where ports read it.
[[nodiscard]] inline Companion name_server(const Settings& settings) {
  const std::string address = kit::ipv4_text(settings.interface);
  const std::string port = std::to_string(kit::free_port(settings.interface, SOCK_STREAM));
  return {.name = "yarpserver",
          .argv = {kit::find_program("stdbuf", "install coreutils"),
                   "-oL",  // flush each line: the launcher waits for ready_pattern
                   name_server_program(), "--write", "--ip", address, "--socket", port, "--portdb",
                   ":memory:", "--subdb", ":memory:"},
          .environment = {{"YARP_CONFIG_HOME", settings.scratch},
                          {"YARP_NAMESPACE", "/" + settings.scope},
                          {"YARP_IP", address},
                          {"YARP_RUNTIME_DIR", settings.scratch},  // for the sockets of unix_stream
                          {"TMPDIR", settings.scratch},            // for the mutexes of shmem
                          {"YARP_PORT_PREFIX", ""},
                          {"YARP_FORWARD_LOG_ENABLE", "0"},
                          {"YARP_CLOCK", ""},
                          {"YARP_QUIET", "1"}},
          .ready_pattern = "Ok. Ready!"};
}

/// Initialises YARP in this process. A process may have only one.
class Network : kit::Pinned {
 public:
  explicit Network(const Options& options) : stays_open_(options.stays_open()) {
    ::yarp::os::NetworkBase::initMinimum(::yarp::os::YARP_CLOCK_SYSTEM);
#ifdef MIDDLEMARK_YARP_WHEEL
    add_owned_shmem("middlemark");
    add_owned_unix_stream("middlemark");
#endif
    if (!::yarp::os::NetworkBase::checkNetwork(5.0)) {
      ::yarp::os::NetworkBase::finiMinimum();
      throw AdapterError("yarp: no name server answers",
                         "start the yarpserver that 'middlemark-worker-yarp --companions' names, with its environment");
    }
    // Connections of shmem go to ports that the kernel has chosen. The ports of YARP and of the name server have
    // smaller numbers.
    if (options.carrier == shmem) bind_connections(kit::kernel_limit("net/ipv4/ip_local_port_range", 32'768));
  }
  ~Network() {
    if (!stays_open_) ::yarp::os::NetworkBase::finiMinimum();
  }

 private:
  const bool stays_open_;
};

/// Owns an object that YARP's threads use while a connection is open. Does not free it if connections stay open
/// (Options::stays_open()).
template <class Used>
class Lasting : kit::Pinned {
 public:
  template <class... Arguments>
  explicit Lasting(bool forever, const Arguments&... arguments)
      : forever_(forever), used_(std::make_unique<Used>(arguments...)) {}
  ~Lasting() {
    if (forever_) static_cast<void>(used_.release());
  }

  [[nodiscard]] Used& operator*() const noexcept { return *used_; }
  [[nodiscard]] Used* operator->() const noexcept { return used_.get(); }

 private:
  const bool forever_;
  std::unique_ptr<Used> used_;
};

[[nodiscard]] inline std::string publisher_port(const std::string& topic, unsigned index) {
  return "/" + topic + "/p" + std::to_string(index);
}

[[nodiscard]] inline std::string subscriber_port(const std::string& topic, unsigned index) {
  return "/" + topic + "/s" + std::to_string(index);
}

/// Opens a port; retries for up to 5 s. When many processes start at once, the name server queues five connections and resets
/// the others, and YARP does not retry.
template <class Port>
void open(Port& port, const std::string& name) {
  if (!kit::wait_until([&] { return port.open(name); }, std::chrono::seconds(5), std::chrono::milliseconds(20))) {
    throw AdapterError("yarp: the port " + name + " cannot be opened; stderr contains YARP's own messages");
  }
}

}  // namespace middlemark::yarp
