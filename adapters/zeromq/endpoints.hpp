// Where a sender binds, and how the others learn of it: a file in the trial's scratch folder, written when it is bound.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <middlemark/settings.hpp>
#include <sockets/descriptor.hpp>

namespace middlemark::zeromq {

/// One end that others connect to: a publisher of a topic, or a server.
class Place {
 public:
  Place(const Settings& settings, const Topic& topic, unsigned index)
      : transport_(settings.transport),
        interface_(settings.interface),
        name_(topic.name + ".zeromq." + std::to_string(index)),
        path_(std::filesystem::path(settings.scratch) / name_) {}

  /// An abstract Unix address: it belongs to the network namespace, has no file to be left behind and no folder whose
  /// name could be too long. A port of TCP is the kernel's choice.
  [[nodiscard]] std::string wanted() const {
    if (transport_ == "inproc") return "inproc://" + name_;
    if (transport_ == "ipc") return "ipc://@" + name_;
    char address[INET_ADDRSTRLEN] = "";
    const in_addr interface = sockets::ipv4_of(interface_);
    inet_ntop(AF_INET, &interface, address, sizeof address);
    return "tcp://" + std::string(address) + ":*";
  }

  /// Written aside and renamed: a reader finds the whole of it or nothing.
  void announce(const std::string& endpoint) const {
    const std::filesystem::path aside = path_.string() + ".new";
    std::ofstream file(aside, std::ios::trunc);
    file << endpoint;
    file.close();
    if (!file || std::rename(aside.c_str(), path_.c_str()) != 0) sockets::fail("zeromq: writing " + path_.string());
  }

  [[nodiscard]] std::optional<std::string> found() const {
    std::ifstream file(path_);
    std::string endpoint;
    if (!std::getline(file, endpoint) || endpoint.empty()) return std::nullopt;
    return endpoint;
  }

 private:
  std::string transport_;
  std::string interface_;
  std::string name_;
  std::filesystem::path path_;
};

}  // namespace middlemark::zeromq
