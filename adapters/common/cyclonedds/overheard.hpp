// Catches what Cyclone DDS logs about a configuration, so that it does not go to stderr.
#pragma once

#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/pinned.hpp>

#include "version.hpp"

namespace middlemark::cyclonedds {

/// Catches the log of Cyclone DDS during its lifetime. The log's sink belongs to the process, so only one object may
/// exist at a time. If the library does not export the function for it (lasts() is false), stderr is redirected
/// instead, which is acceptable only for a short time before the start.
class Overheard : kit::Pinned {
 public:
  Overheard() {
    if (set_log_sink(&Overheard::hear, this)) return;
    std::fflush(stderr);
    kept_ = memfd_create("overheard", MFD_CLOEXEC);
    stderr_ = kept_ < 0 ? -1 : dup(STDERR_FILENO);
    if (stderr_ >= 0) dup2(kept_, STDERR_FILENO);
  }
  ~Overheard() { restore(); }

  [[nodiscard]] static bool lasts() { return dds_set_log_sink != nullptr; }

  /// Ends the catching and returns the lines.
  [[nodiscard]] std::vector<std::string> lines() {
    restore();
    return std::move(lines_);
  }

  /// The text that was caught so far, each line once.
  [[nodiscard]] std::string said() {
    if (!lasts()) restore();
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& each : lines_) all += (all.empty() ? "" : "; ") + each;
    return all;
  }

 private:
  void restore() {
    set_log_sink(nullptr, nullptr);
    if (stderr_ >= 0) {
      std::fflush(stderr);
      dup2(stderr_, STDERR_FILENO);
      close(std::exchange(stderr_, -1));
      read_kept();
    }
    if (kept_ >= 0) close(std::exchange(kept_, -1));
  }

  void read_kept() {
    std::string text;
    char some[4096];
    for (off_t at = 0;;) {
      const ssize_t got = pread(kept_, some, sizeof some, at);
      if (got <= 0) break;
      text.append(some, static_cast<std::size_t>(got));
      at += got;
    }
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      // The text follows the time, the domain and the thread: "1795268508.321823 [60]     worker: config: …".
      if (const std::size_t head = line.find("] "); head != line.npos) line.erase(0, line.find(": ", head) + 2);
      keep(std::move(line));
      begin = end + 1;
    }
  }

  static void hear(void* self, const dds_log_data_t* entry) {
    static_cast<Overheard*>(self)->keep(std::string(entry->message, entry->size));
  }

  void keep(std::string line) {
    line.erase(std::min(line.find_last_not_of(" \n") + 1, line.size()));
    std::ranges::replace(line, '\n', ' ');
    // The position in the configuration is useless to the user, because the adapter wrote the XML as one line.
    if (const std::size_t place = line.find(" (CYCLONEDDS_URI"); place != line.npos) line.erase(place);
    const std::lock_guard lock(mutex_);
    if (line.empty() || lines_.size() >= most_lines || std::ranges::count(lines_, line) != 0) return;
    lines_.push_back(std::move(line));
  }

  static constexpr std::size_t most_lines = 50;
  std::mutex mutex_;  // Cyclone DDS's own threads log too
  std::vector<std::string> lines_;
  int kept_ = -1;
  int stderr_ = -1;
};

}  // namespace middlemark::cyclonedds
