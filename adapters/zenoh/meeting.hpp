// How the workers of a trial meet without a router and without scouting: each takes a number in the trial's scratch
// folder, says there where it listens, and connects to those with lower numbers. So every two of them have one link, in
// whatever order they start.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::zenoh {

struct Meeting {
  std::string listen;                ///< zenoh's endpoint
  std::vector<std::string> connect;  ///< those of whoever was there before
};

inline std::string ipv4_of(const std::string& interface) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) throw AdapterError(std::string("zenoh: getifaddrs(): ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || interface != each->ifa_name) continue;
    char text[INET_ADDRSTRLEN]{};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof text);
    return text;
  }
  throw AdapterError("zenoh: the interface " + interface + " has no IPv4 address", "give it one, or name another");
}

/// A port of `address` that was free a moment ago.
inline std::string free_port(const std::string& address, int type) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  inet_pton(AF_INET, address.c_str(), &place.sin_addr);
  socklen_t length = sizeof place;
  const int socket = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  const bool found = socket >= 0 && bind(socket, reinterpret_cast<const sockaddr*>(&place), length) == 0 &&
                     getsockname(socket, reinterpret_cast<sockaddr*>(&place), &length) == 0;
  const int error = errno;
  if (socket >= 0) close(socket);
  if (!found) throw AdapterError("zenoh: no free port at " + address + ": " + std::strerror(error));
  return std::to_string(ntohs(place.sin_port));
}

/// Where this process can listen. zenoh tells a link's reliability by its endpoint: a reliable UDP link is QUIC, not encrypted.
inline std::string own_endpoint(const Settings& settings) {
  const bool reliable = settings.reliability == Reliability::reliable;
  if (settings.transport == "tcp" || settings.transport == "udp") {
    const std::string address = ipv4_of(settings.interface);
    const bool udp = settings.transport == "udp";
    return settings.transport + "/" + address + ":" + free_port(address, udp ? SOCK_DGRAM : SOCK_STREAM) +
           (udp && reliable ? "?rel=1" : "");
  }
  const std::string path = settings.scratch + "/zenoh." + std::to_string(getpid()) + ".sock";
  if (path.size() >= sizeof sockaddr_un{}.sun_path) {
    throw AdapterError("zenoh: " + path + ": is too long for a Unix socket", "set TMPDIR to a shorter path");
  }
  return "unixsock-stream/" + path;
}

inline Meeting meet(const Settings& settings) {
  Meeting meeting{own_endpoint(settings), {}};
  const std::string stem = settings.scratch + "/zenoh.";
  // Written aside and linked: whoever reads it finds the whole of it.
  const std::string aside = stem + std::to_string(getpid()) + ".new";
  std::ofstream(aside) << meeting.listen << std::endl;
  for (unsigned number = 0;; ++number) {
    const std::string taken = stem + std::to_string(number) + ".endpoint";
    if (link(aside.c_str(), taken.c_str()) == 0) break;
    if (errno != EEXIST) throw AdapterError("zenoh: " + taken + ": " + std::strerror(errno));
    std::string endpoint;
    std::getline(std::ifstream(taken), endpoint);
    meeting.connect.push_back(endpoint);
  }
  unlink(aside.c_str());
  return meeting;
}

}  // namespace middlemark::zenoh
