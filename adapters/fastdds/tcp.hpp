// How the processes of a trial find each other over TCP, and how they end. Fast DDS 2.9 does neither safely.
//
// TCP has no multicast, so the processes agree through the trial's scratch folder. The first process chooses a free
// port for each. Each process takes the next place, and listens only after the process before it listens. Each connects
// to the processes after it, so its first attempt is always refused. This is on purpose: Fast DDS 2.9 starts to connect
// before it notes which logical port it wants, and drops the peer's answer if the answer comes first. The two processes
// then never find each other (seen in up to half of all starts on two busy processors). After a refusal the port is
// noted, and the next announcement connects.
//
// Deleting a participant is unsafe for two reasons. The threads that read its connections share one flag, so it frees a
// receiver when the first of them has finished, while another may still write to it. And when a peer closes a
// connection, the reading thread takes the socket without a lock while a sending thread may be replacing it. Both
// corrupt the heap. Nothing of a TCP participant outlives its process, so the participant is not deleted: the kernel
// cleans up. At its very end each process waits for the others and exits with them. Failures between the first exit and
// its own have no effect on the result.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

/// A file that all processes of the trial keep locked (shared) until their end; the kernel releases the lock of a
/// process that died. Open from the moment when the process has taken its place; it outlives the adapter.
inline kit::Descriptor tcp_exit;

/// This process's place among the processes of the trial.
class TcpPlace {
 public:
  /// Waits until the process at the place before listens.
  explicit TcpPlace(const Settings& settings) : notes_(settings) {
    std::string proposal = kit::ipv4_text(settings.interface);
    // Fast DDS 3 only connects to higher ports, and expects connections from lower ones.
    for (const auto port : kit::free_ports(settings.interface, SOCK_STREAM, settings.workers)) {
      proposal += ' ' + std::to_string(port);
    }
    const std::vector<std::string> before = notes_.join("tcp.place", proposal);
    std::istringstream agreed(before.empty() ? proposal : before.front());
    std::string first_address;
    agreed >> first_address;
    for (std::uint16_t port = 0; agreed >> port;) ports_.push_back(port);
    place_ = before.size();
    if (place_ >= ports_.size()) {
      throw AdapterError("fastdds: tcp: more processes than the trial has",
                         "do not use a trial's scratch folder twice");
    }
    const std::string lock = settings.scratch + "/tcp.lock";
    tcp_exit = kit::Descriptor(::open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    if (flock(tcp_exit.get(), LOCK_SH) != 0) kit::fail("fastdds: tcp: " + lock);
    addresses_.assign(ports_.size(), kit::ipv4_text(settings.interface));
    if (settings.interface != "lo") await_addresses();
    if (place_ > 0) await_open(place_ - 1);
  }

  [[nodiscard]] std::uint16_t own() const { return ports_[place_]; }

  struct Peer {
    std::string address;
    std::uint16_t port;
  };
  /// The processes after this one.
  [[nodiscard]] std::vector<Peer> later() const {
    std::vector<Peer> peers;
    for (std::size_t place = place_ + 1; place < ports_.size(); ++place) {
      peers.push_back({addresses_[place], ports_[place]});
    }
    return peers;
  }

  /// Call when this process listens.
  void open() const { notes_.leave(open_note(place_)); }

 private:
  [[nodiscard]] static std::string open_note(std::size_t place) { return "tcp.open." + std::to_string(place); }

  /// On other interfaces than `lo` each process may have its own address.
  void await_addresses() {
    const auto has_address = [this](std::size_t place) {
      std::istringstream note(notes_.find("tcp.place." + std::to_string(place)).value_or(""));
      return static_cast<bool>(note >> addresses_[place]);
    };
    for (std::size_t place = 0; place < ports_.size(); ++place) {
      if (!kit::wait_until([&] { return has_address(place); }, std::chrono::seconds(10),
                           std::chrono::milliseconds(1))) {
        throw AdapterError("fastdds: tcp: process " + std::to_string(place) + " of " + std::to_string(ports_.size()) +
                               " did not announce its address within 10 s",
                           "read the errors of the trial's other workers");
      }
    }
  }

  void await_open(std::size_t place) const {
    const auto patience = std::chrono::seconds(10 + place / 4);  // each process before has waited too
    if (!kit::wait_until([&] { return notes_.find(open_note(place)).has_value(); }, patience,
                         std::chrono::milliseconds(1))) {
      throw AdapterError("fastdds: tcp: the process before this one did not open its port within " +
                             std::to_string(patience.count()) + " s (" + open_note(place) + ")",
                         "read the errors of the trial's other workers");
    }
  }

  kit::Rendezvous notes_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::string> addresses_;
  std::size_t place_ = 0;
};

/// Call at the end of main(). Over TCP it does not return: destructors of static objects must not run while Fast DDS's
/// threads do.
[[nodiscard]] inline int leave(int status) {
  if (!tcp_exit) return status;
  std::fflush(nullptr);
  static int ends_with = 0;
  ends_with = status;
  for (const int broken : {SIGABRT, SIGBUS, SIGSEGV}) signal(broken, [](int) { _exit(ends_with); });
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDERR_FILENO);  // hides malloc's messages about the corrupt heap
  flock(tcp_exit.get(), LOCK_UN);
  const auto all_are_here = [] {
    return flock(tcp_exit.get(), LOCK_EX | LOCK_NB) == 0 && flock(tcp_exit.get(), LOCK_UN) == 0;
  };
  // Less than the launcher's limit of three seconds.
  static_cast<void>(kit::wait_until(all_are_here, std::chrono::seconds(2), std::chrono::microseconds(200)));
  _exit(status);
}

}  // namespace middlemark::fastdds
