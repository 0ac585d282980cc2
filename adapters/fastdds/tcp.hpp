// Makes the processes of a trial find each other over TCP, and ends them. Finding and ending are unsafe in Fast DDS 2.9.
//
// TCP has no multicast, so the processes agree through the trial's scratch folder. The first process chooses a free
// port for each process. Each process takes the next place in a list, and listens only after the process before it
// listens. A process connects to the processes after it, which do not listen yet, so its first attempt is always
// refused. This is intended. Fast DDS 2.9 starts to connect before it stores the logical port that it wants, and drops
// the peer's answer if the answer arrives before that. The two processes then never find each other; we saw this in up
// to half of all starts on two busy processors. After a refusal the port is stored, and the next announcement connects.
//
// Deleting a participant is unsafe for two reasons. First, the threads that read its connections share one flag. So the
// participant frees a receiver when the first thread has finished, while another thread may still write to this
// receiver. Second, when a peer closes a connection, the reading thread takes the socket without a lock while a sending
// thread may be replacing the socket. Both corrupt the heap. A TCP participant leaves nothing behind after its process,
// so the participant is not deleted, and the kernel cleans up. At its end each process waits until all processes wait
// here or have died, and then exits. A crash while it waits has no effect on the result.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

/// A file on which each process of the trial has a shared lock until its end. The kernel releases the lock of a process
/// that died. TcpPlace opens the file; it stays open when the adapter is destroyed.
inline kit::Descriptor tcp_exit;

/// The place of this process in the list of the trial's processes.
class TcpPlace {
 public:
  /// Takes the next place, and waits until the process at the place before it listens.
  explicit TcpPlace(const Settings& settings) : notes_(settings) {
    std::string proposal = kit::ipv4_text(settings.interface);
    // Fast DDS 3 connects only to higher ports, and expects connections only from lower ports.
    for (const auto port : kit::free_ports(settings.interface, SOCK_STREAM, settings.workers)) {
      proposal += ' ' + std::to_string(port);
    }
    const std::vector<std::string> earlier = notes_.join("tcp.place", proposal);
    std::istringstream agreed(earlier.empty() ? proposal : earlier.front());
    std::string first_address;
    agreed >> first_address;
    for (std::uint16_t port = 0; agreed >> port;) ports_.push_back(port);
    place_ = earlier.size();
    if (place_ >= ports_.size()) {
      throw AdapterError("fastdds: tcp: more processes than the trial has", "use a new scratch folder for each trial");
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
  [[nodiscard]] std::vector<Peer> later() const {
    std::vector<Peer> peers;
    for (std::size_t place = place_ + 1; place < ports_.size(); ++place) {
      peers.push_back({addresses_[place], ports_[place]});
    }
    return peers;
  }

  /// Writes the note that tells the process at the next place that this process listens.
  void open() const { notes_.leave(open_note(place_)); }

 private:
  [[nodiscard]] static std::string open_note(std::size_t place) { return "tcp.open." + std::to_string(place); }

  /// Reads the address of each process: on interfaces other than `lo` the processes may have different addresses.
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
    const auto patience = std::chrono::seconds(10 + place / 4);  // each process before this one may have waited, too
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

/// Returns `status`, the exit status of the process. Must be called at the end of main(). Over TCP it does not return
/// but ends the process, because destructors of static objects must not run while Fast DDS's threads run.
[[nodiscard]] inline int leave(int status) {
  if (!tcp_exit) return status;
  std::fflush(nullptr);
  static int ends_with = 0;
  ends_with = status;
  for (const int broken : {SIGABRT, SIGBUS, SIGSEGV}) signal(broken, [](int) { _exit(ends_with); });
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDERR_FILENO);  // hides malloc's messages about the corrupt heap
  flock(tcp_exit.get(), LOCK_UN);
  const auto all_have_ended = [] {
    return flock(tcp_exit.get(), LOCK_EX | LOCK_NB) == 0 && flock(tcp_exit.get(), LOCK_UN) == 0;
  };
  // The limit of 2 s is less than the launcher's limit of 3 s for the end of a worker.
  static_cast<void>(kit::wait_until(all_have_ended, std::chrono::seconds(2), std::chrono::microseconds(200)));
  _exit(status);
}

}  // namespace middlemark::fastdds
