// How the processes of a trial find each other over TCP, and how they end there: Fast DDS 2.9 does neither safely.
//
// TCP has no multicast, so they agree through the trial's scratch folder. The first one chooses a free port for everyone. Each takes
// the next place, and listens only when the one before it is listening. So each connects to those who come after it, and its first
// attempt is always refused. That is on purpose. Fast DDS 2.9 starts to connect before it notes which logical port it wants, and
// drops the peer's answer when that comes first: the two then never find each other (seen in up to half of all starts on two busy
// processors). After a refusal it has noted the port, and connects with its next announcement.
//
// Deleting a participant frees a receiver as soon as one of the threads that read its connections says that it is done with it, for
// they share one flag: with two peers or more another thread still writes to it. And when a peer goes, the thread that reads its
// connection takes the socket while a thread that sends may be replacing it by a new one, without a lock. Both corrupt the heap.
// Nothing of a TCP participant outlives its process, so the kernel may have it. Each process waits for the others at its very end, and
// ends with them; what breaks in the moment between the first end and its own changes nothing any more.
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

/// A file that each process of the trial has locked, together with the others, until its end; the kernel lets go of the lock of one that
/// died. Open when the process has taken its place; it outlives the adapter.
inline kit::Descriptor tcp_exit;

/// This process's place among those of the trial.
class TcpPlace {
 public:
  /// Waits until the place before is open.
  explicit TcpPlace(const Settings& settings) : notes_(settings) {
    std::string proposal = kit::ipv4_text(settings.interface);
    // Fast DDS 3 connects to higher ports only, from which it expects the reverse.
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
      throw AdapterError("fastdds: tcp: all places are taken", "a trial's scratch folder must not be used twice");
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

  /// To be called when this process listens.
  void open() const { notes_.leave(open_note(place_)); }

 private:
  [[nodiscard]] static std::string open_note(std::size_t place) { return "tcp.open." + std::to_string(place); }

  /// Beside `lo` each process may have an address of its own.
  void await_addresses() {
    const auto told = [this](std::size_t place) {
      std::istringstream note(notes_.find("tcp.place." + std::to_string(place)).value_or(""));
      return static_cast<bool>(note >> addresses_[place]);
    };
    for (std::size_t place = 0; place < ports_.size(); ++place) {
      if (!kit::wait_until([&] { return told(place); }, std::chrono::seconds(10), std::chrono::milliseconds(1))) {
        throw AdapterError("fastdds: tcp: process " + std::to_string(place) + " of " + std::to_string(ports_.size()) +
                               " did not say its address within 10 s",
                           "see what the other workers of the trial said");
      }
    }
  }

  void await_open(std::size_t place) const {
    const auto patience = std::chrono::seconds(10 + place / 4);  // each of those before waited likewise
    if (!kit::wait_until([&] { return notes_.find(open_note(place)).has_value(); }, patience,
                         std::chrono::milliseconds(1))) {
      throw AdapterError("fastdds: tcp: the process before this one did not open its port within " +
                             std::to_string(patience.count()) + " s (" + open_note(place) + ")",
                         "see what the other workers of the trial said");
    }
  }

  kit::Rendezvous notes_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::string> addresses_;
  std::size_t place_ = 0;
};

/// The end of main(). Over TCP it does not return: destructors of static objects must not meet Fast DDS's threads either.
[[nodiscard]] inline int leave(int status) {
  if (!tcp_exit) return status;
  std::fflush(nullptr);
  static int ends_with = 0;
  ends_with = status;
  for (const int broken : {SIGABRT, SIGBUS, SIGSEGV}) signal(broken, [](int) { _exit(ends_with); });
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDERR_FILENO);  // malloc would tell what it found
  flock(tcp_exit.get(), LOCK_UN);
  const auto all_are_here = [] {
    return flock(tcp_exit.get(), LOCK_EX | LOCK_NB) == 0 && flock(tcp_exit.get(), LOCK_UN) == 0;
  };
  // The launcher waits for three seconds.
  static_cast<void>(kit::wait_until(all_are_here, std::chrono::seconds(2), std::chrono::microseconds(200)));
  _exit(status);
}

}  // namespace middlemark::fastdds
