// rosmaster, the name server of a trial: how it is started, and where.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <middlemark/settings.hpp>
#include <sockets/descriptor.hpp>

namespace middlemark::ros1 {

/// The address that ROS announces and is reached at.
[[nodiscard]] inline std::string address_of(const std::string& interface) {
  const in_addr address = sockets::ipv4_of(interface);
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

/// `wanted`, or any port that is free; another process may still be faster than rosmaster, which then names the port.
[[nodiscard]] inline std::uint16_t free_port(const std::string& interface, std::optional<std::uint16_t> wanted) {
  const sockets::Descriptor socket = sockets::open_socket(AF_INET, SOCK_STREAM);
  const int reuse = 1;  // as rosmaster does: a port whose last connections linger is free
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(wanted.value_or(0));
  address.sin_addr = sockets::ipv4_of(interface);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw AdapterError("ros1: rosmaster: port " + std::to_string(wanted.value_or(0)) + " of " + interface + ": " +
                           std::strerror(errno),
                       "'ss -ltnp' shows whose it is; leave native.master_port out to have a free one");
  }
  const sockets::Address got = sockets::address_of(socket.get());
  return ntohs(reinterpret_cast<const sockaddr_in*>(got.get())->sin_port);
}

[[nodiscard]] inline std::string find_rosmaster() {
  const char* search = std::getenv("PATH");
  const std::string folders = search != nullptr ? search : "/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    std::string candidate = folders.substr(at, end - at) + "/rosmaster";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw AdapterError("ros1: rosmaster, which every transport needs, is not on the PATH",
                     "Debian: apt install python3-rosmaster");
}

/// rosmaster says nothing on its streams by itself, and its log file would be in the user's home: this logs to stdout.
inline void write_logging(const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::trunc);
  file << "[loggers]\nkeys=root,master\n\n[handlers]\nkeys=out\n\n[formatters]\nkeys=plain\n\n"
          "[logger_root]\nlevel=WARNING\nhandlers=out\n\n"
          "[logger_master]\nlevel=INFO\nhandlers=\npropagate=1\nqualname=rosmaster.master\n\n"
          "[handler_out]\nclass=StreamHandler\nlevel=INFO\nformatter=plain\nargs=(sys.stdout,)\n\n"
          "[formatter_plain]\nformat=%(name)s: %(message)s\n";
  if (!file.flush()) throw AdapterError("ros1: " + path.string() + " cannot be written");
}

[[nodiscard]] inline Companion rosmaster(const Settings& settings, std::optional<std::uint16_t> wanted) {
  const std::string address = address_of(settings.interface);
  const std::string port = std::to_string(free_port(settings.interface, wanted));
  const std::filesystem::path logging = std::filesystem::path(settings.scratch) / "rosmaster-logging.conf";
  write_logging(logging);
  Companion master;
  master.name = "rosmaster";
  master.argv = {find_rosmaster(), "--core", "-p", port};
  master.environment = {{"ROS_MASTER_URI", "http://" + address + ":" + port},
                        {"ROS_HOSTNAME", address},  // it would come before ROS_IP
                        {"ROS_IP", address},
                        {"ROS_HOME", settings.scratch},
                        {"ROS_LOG_DIR", settings.scratch},
                        {"ROS_PYTHON_LOG_CONFIG_FILE", logging.string()},
                        {"ROS_NAMESPACE", ""},
                        {"PYTHONUNBUFFERED", "1"}};
  master.ready_pattern = "Master initialized: port\\[" + port + "\\]";
  master.ready_timeout_s = 15;
  return master;
}

}  // namespace middlemark::ros1
