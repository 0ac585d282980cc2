// How the processes of a trial find each other over TCP, which has no multicast.
//
// They agree through the trial's scratch folder: whoever comes first picks a free port for everyone; each takes the
// next place, and listens only when the one before it is listening. So each connects to those who come after it, and
// its first attempt is always refused. That is on purpose. Fast DDS 2.9 starts to connect before it notes which logical
// port it wants, and drops the peer's answer when that comes first: the two then never find each other (seen in up to
// half of all starts on two busy processors). After a refusal it has noted the port, and connects with its next
// announcement.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/settings.hpp>

#include "tcp_exit.hpp"

namespace middlemark::fastdds {

/// The first port that the kernel may give to an outgoing connection.
[[nodiscard]] inline unsigned first_ephemeral_port() {
  unsigned first = 32'768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first;
}

/// `count` different ports of `address` that are free now. Fast DDS 2.9 cannot listen on port 0 and say which it got. Not
/// those of outgoing connections: until a process listens on its port another one's connection may have it.
[[nodiscard]] inline std::vector<std::uint16_t> free_tcp_ports(const std::string& address, std::size_t count) {
  constexpr unsigned first = 10'000;
  const unsigned last = std::max(first_ephemeral_port(), first + 1024);
  const unsigned begin = static_cast<unsigned>(getpid()) * 67;  // trials that run side by side begin at different ones
  std::vector<int> sockets;
  std::vector<std::uint16_t> ports;
  int error = 0;
  for (unsigned tried = 0; ports.size() < count && tried < last - first; ++tried) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<std::uint16_t>(first + (begin + tried) % (last - first)));
    inet_pton(AF_INET, address.c_str(), &where.sin_addr);
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || bind(descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
      error = errno;
      if (descriptor >= 0) ::close(descriptor);
      if (descriptor < 0 || error != EADDRINUSE) break;
      continue;
    }
    sockets.push_back(descriptor);
    ports.push_back(ntohs(where.sin_port));
  }
  for (const int descriptor : sockets) ::close(descriptor);
  std::ranges::sort(ports);  // Fast DDS 3 connects to higher ports only, from which it expects the reverse
  if (ports.size() == count) return ports;
  throw AdapterError("fastdds: tcp: " + address + " has " + std::to_string(ports.size()) + " free ports from " +
                     std::to_string(first) + " to " + std::to_string(last - 1) + " where " + std::to_string(count) +
                     " are needed: " + std::strerror(error));
}

/// This process's place among those of the trial.
class TcpPlace {
 public:
  /// Waits until the place before is open.
  TcpPlace(const Settings& settings, const std::string& address)
      : prefix_(settings.scratch + "/" + settings.scope + "_fastdds_tcp_") {
    agree(free_tcp_ports(address, settings.workers));
    int own = -1;
    while ((own = create(name("place", place_))) < 0) {
      if (++place_ == ports_.size()) {
        throw AdapterError("fastdds: tcp: all " + std::to_string(place_) + " places in " + prefix_ + "* are taken",
                           "a trial's scratch folder must not be used twice");
      }
    }
    flock(own, LOCK_EX);  // before anybody can connect
    TcpExit& at_exit = tcp_exit().emplace();
    at_exit.own = own;
    for (std::size_t other = 0; other < ports_.size(); ++other) {
      if (other != place_) at_exit.others.push_back(name("place", other));
    }
    if (place_ > 0) await_open(place_ - 1);
  }

  [[nodiscard]] std::uint16_t own() const { return ports_[place_]; }
  [[nodiscard]] std::vector<std::uint16_t> later() const {
    return {ports_.begin() + static_cast<std::ptrdiff_t>(place_) + 1, ports_.end()};
  }

  /// To be called when this process listens.
  void open() const { ::close(create(name("open", place_))); }

 private:
  [[nodiscard]] std::string name(const char* what, std::size_t place) const {
    return prefix_ + what + std::to_string(place);
  }

  [[noreturn]] static void fail(const std::string& path, int error) {
    throw AdapterError("fastdds: tcp: " + path + ": " + std::strerror(error),
                       "the trial's scratch folder must exist and be writable");
  }

  /// link() makes the whole file or none and refuses what exists: everyone reads the ports of one process.
  void agree(const std::vector<std::uint16_t>& proposal) {
    const std::string draft = prefix_ + "draft" + std::to_string(getpid());
    const std::string agreed = prefix_ + "ports";
    {
      std::ofstream file(draft);
      for (const std::uint16_t port : proposal) file << port << '\n';
      if (!file.flush()) fail(draft, errno);
    }
    const int error = link(draft.c_str(), agreed.c_str()) == 0 ? 0 : errno;
    unlink(draft.c_str());
    if (error != 0 && error != EEXIST) fail(agreed, error);
    std::ifstream file(agreed);
    for (unsigned port = 0; file >> port;) ports_.push_back(static_cast<std::uint16_t>(port));
    if (ports_.size() != proposal.size()) fail(agreed, EINVAL);
  }

  /// The file's descriptor; negative when somebody else made it.
  [[nodiscard]] static int create(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) fail(path, errno);
    return descriptor;
  }

  void await_open(std::size_t place) const {
    const std::string path = name("open", place);
    const auto patience = std::chrono::seconds(10 + place / 4);  // each of those before waited likewise
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (access(path.c_str(), F_OK) != 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw AdapterError("fastdds: tcp: the process before this one did not open its port within " +
                               std::to_string(patience.count()) + " s (" + path + ")",
                           "see what the other workers of the trial said");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::string prefix_;
  std::vector<std::uint16_t> ports_;
  std::size_t place_ = 0;
};

}  // namespace middlemark::fastdds
