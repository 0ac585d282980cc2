// Captures the lines that Cyclone DDS logs, so that they do not go to stderr.
#pragma once

#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/pinned.hpp>

#include "version.hpp"

namespace middlemark::cyclonedds {

/// Captures the log of Cyclone DDS from its construction until lines() or its destruction. A process has only one log
/// sink, so only one object may exist at a time. If the library does not export dds_set_log_sink() (has_sink() is
/// false), stderr is redirected instead, which is acceptable only for a short time before the start.
class LogCapture : kit::Pinned {
 public:
  /// `user_file`: the index of the user's own document in the configuration; messages keep the line numbers of this
  /// document. nullopt: there is none.
  explicit LogCapture(std::optional<std::size_t> user_file = std::nullopt)
      : user_place_(user_file ? " (CYCLONEDDS_URI+" + std::to_string(*user_file) + " line " : "") {
    if (set_log_sink(&LogCapture::receive, this)) return;
    std::fflush(stderr);
    file_ = memfd_create("log", MFD_CLOEXEC);
    stderr_ = file_ < 0 ? -1 : dup(STDERR_FILENO);
    if (stderr_ >= 0) dup2(file_, STDERR_FILENO);
  }
  ~LogCapture() { restore(); }

  [[nodiscard]] static bool has_sink() { return dds_set_log_sink != nullptr; }

  /// Ends the capture and returns the lines.
  [[nodiscard]] std::vector<std::string> lines() {
    restore();
    return std::move(lines_);
  }

  /// Returns the lines captured so far, separated by "; ". Equal lines appear once.
  [[nodiscard]] std::string text() {
    if (!has_sink()) restore();
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& line : lines_) all += (all.empty() ? "" : "; ") + line;
    return all;
  }

 private:
  void restore() {
    set_log_sink(nullptr, nullptr);
    if (stderr_ >= 0) {
      std::fflush(stderr);
      dup2(stderr_, STDERR_FILENO);
      close(std::exchange(stderr_, -1));
      read_file();
    }
    if (file_ >= 0) close(std::exchange(file_, -1));
  }

  void read_file() {
    std::string text;
    char some[4096];
    for (off_t at = 0;;) {
      const ssize_t got = pread(file_, some, sizeof some, at);
      if (got <= 0) break;
      text.append(some, static_cast<std::size_t>(got));
      at += got;
    }
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      // Removes the time, the domain and the thread before the text: "1795268508.321823 [60] worker: config: …".
      if (const std::size_t head = line.find("] "); head != line.npos) line.erase(0, line.find(": ", head) + 2);
      keep(std::move(line));
      begin = end + 1;
    }
  }

  static void receive(void* self, const dds_log_data_t* entry) {
    static_cast<LogCapture*>(self)->keep(std::string(entry->message, entry->size));
  }

  void keep(std::string line) {
    line.erase(std::min(line.find_last_not_of(" \n") + 1, line.size()));
    std::ranges::replace(line, '\n', ' ');
    // Remove line numbers of our own documents, because the user does not see these documents.
    if (const std::size_t own = user_place_.empty() ? line.npos : line.find(user_place_); own != line.npos) {
      line.replace(own, user_place_.size(), " (line ");
    }
    if (const std::size_t place = line.find(" (CYCLONEDDS_URI"); place != line.npos) line.erase(place);
    const std::lock_guard lock(mutex_);
    if (line.empty() || lines_.size() >= most_lines || std::ranges::count(lines_, line) != 0) return;
    lines_.push_back(std::move(line));
  }

  static constexpr std::size_t most_lines = 50;
  const std::string user_place_;  ///< how Cyclone DDS names the user's own document; empty: there is none
  std::mutex mutex_;              // Cyclone DDS's own threads also log
  std::vector<std::string> lines_;
  int file_ = -1;
  int stderr_ = -1;
};

}  // namespace middlemark::cyclonedds
