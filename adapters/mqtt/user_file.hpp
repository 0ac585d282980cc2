// A user's mosquitto.conf (native setting `config`): the lines that a trial uses, and mosquitto's own judgement of them.
#pragma once

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::mqtt {

struct UserFile {
  /// The user's lines with their line numbers. A line that the trial replaces is empty.
  std::string lines;
  /// The replaced settings: "listener (line 3), log_dest (line 5)".
  std::string replaced;
};

/// Returns true for settings that the trial sets itself: listener, user, log, persistence, protection.
[[nodiscard]] inline bool set_by_trial(std::string_view word) {
  constexpr std::array words{"listener",
                             "port",
                             "bind_address",
                             "bind_interface",
                             "socket_domain",
                             "protocol",
                             "user",
                             "pid_file",
                             "allow_anonymous",
                             "autosave_interval",
                             "autosave_on_changes",
                             "cafile",
                             "capath",
                             "certfile",
                             "keyfile",
                             "require_certificate",
                             "acl_file",
                             "tls_version"};
  return std::ranges::find(words, word) != words.end() || word.starts_with("log_") || word.starts_with("persistence") ||
         word.starts_with("use_");
}

/// Reads the file; an empty path is an empty file. Throws an AdapterError that names every line which a trial cannot
/// carry out: a bridge to another broker, and files that the line includes.
[[nodiscard]] inline UserFile read_user_file(const std::string& path) {
  UserFile read;
  if (path.empty()) return read;
  std::ifstream file(path);
  if (!file) throw AdapterError("mqtt: config: " + path + " cannot be read: " + std::strerror(errno));
  std::string refused;
  int number = 0;
  for (std::string line; std::getline(file, line); read.lines += line + '\n') {
    std::string word;
    std::istringstream(line) >> word;
    const std::string place = word + " (line " + std::to_string(++number) + ")";
    if (word == "connection" || word == "include_dir") refused += (refused.empty() ? "" : ", ") + place;
    if (!set_by_trial(word)) continue;
    read.replaced += (read.replaced.empty() ? "" : ", ") + place;
    line.clear();
  }
  if (refused.empty()) return read;
  throw AdapterError(
      "mqtt: config: " + path + ": " + refused + ": a trial has no second broker and reads no other file",
      "remove these lines; copy the settings of an included file into this one");
}

/// Starts mosquitto with the configuration `text`, whose first line is the trial's and whose other lines are those of the
/// user's file `path`, and ends mosquitto again when it runs. Throws an AdapterError with mosquitto's words and the line if
/// mosquitto rejects the configuration. For `--check` only: the process must have a single thread.
inline void ask_mosquitto(const std::string& path, const std::string& text, const std::string& program) {
  const int file = memfd_create("mosquitto.conf", 0);  // a file in memory, so that nothing is left behind
  std::array<int, 2> ends{};
  const bool ready =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && pipe(ends.data()) == 0;
  const pid_t broker = ready ? fork() : -1;
  if (broker < 0) throw AdapterError(std::string("mqtt: mosquitto cannot be started: ") + std::strerror(errno));
  if (broker == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execl(program.c_str(), program.c_str(), "-c", ("/proc/self/fd/" + std::to_string(file)).c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string printed;
  const kit::Deadline deadline(std::chrono::seconds(10));
  pollfd readable{.fd = ends[0], .events = POLLIN, .revents = 0};
  std::array<char, 4096> bytes{};
  while (printed.find(" running") == std::string::npos && !deadline.passed()) {
    if (poll(&readable, 1, 100) <= 0) continue;
    const ssize_t count = read(ends[0], bytes.data(), bytes.size());
    if (count <= 0) break;
    printed.append(bytes.data(), static_cast<std::size_t>(count));
  }
  kill(broker, SIGKILL);
  waitpid(broker, nullptr, 0);
  close(ends[0]);
  close(file);
  if (printed.find(" running") != std::string::npos) return;
  std::smatch at;
  const std::regex place(R"(Error found at [^\n]*:(\d+)\.?)");
  const std::string where =
      std::regex_search(printed, at, place) ? " line " + std::to_string(std::stoi(at[1]) - 1) : "";
  const std::regex error(R"(Error: ([^\n]+))");
  const std::string words = std::regex_search(printed, at, error) ? at[1].str() : "it did not start: " + printed;
  throw AdapterError("mqtt: config: " + path + where + ": mosquitto says: " + words, "correct or remove the line");
}

}  // namespace middlemark::mqtt
