// How the workers of a trial find each other's sockets: each endpoint announces itself by a file in the trial's scratch
// folder.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "descriptor.hpp"

namespace middlemark::sockets {

/// Who an endpoint is (`process` is drawn at random by each worker) and where it is reached.
struct Announcement {
  std::uint64_t process = 0;
  Address address;
};

enum class Endpoint { publisher, subscriber };

[[nodiscard]] inline std::string announcement_path(const Settings& settings, const std::string& topic, Endpoint kind,
                                                   unsigned index) {
  return settings.scratch + "/" + topic + (kind == Endpoint::publisher ? ".publisher." : ".subscriber.") +
         std::to_string(index);
}

/// Written aside and renamed: a reader finds the whole of it or nothing.
inline void announce(const std::string& path, const Announcement& announcement) {
  const std::string aside = path + ".new";
  const Descriptor file(open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) fail("open() of " + aside);
  if (write(file.get(), &announcement, sizeof announcement) != static_cast<ssize_t>(sizeof announcement)) {
    fail("write() to " + aside);
  }
  if (rename(aside.c_str(), path.c_str()) != 0) fail("rename() to " + path);
}

/// Nothing when it is not there yet.
[[nodiscard]] inline std::optional<Announcement> find_announcement(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    fail("open() of " + path);
  }
  Announcement announcement;
  if (read(file.get(), &announcement, sizeof announcement) != static_cast<ssize_t>(sizeof announcement)) {
    throw AdapterError(path + ": is not an announcement of this version");
  }
  return announcement;
}

}  // namespace middlemark::sockets
