// Runs code in a forked child process, because it changes the process: its priorities, limits or descriptors.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace middlemark::test {

struct ChildEnd {
  int status = 0;
  std::string report;  ///< what the work returned; "threw: …" if it threw

  [[nodiscard]] bool exited_with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
  [[nodiscard]] bool killed_by(int signal_number) const {
    return WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
  }
  /// Returns the report of a child that succeeded, otherwise how it ended.
  [[nodiscard]] std::string text() const { return exited_with(0) ? report : how(); }
  [[nodiscard]] std::string how() const {
    if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status)) + ", report: " + report;
    return "signal " + std::to_string(WTERMSIG(status)) + ", report: " + report;
  }
};

inline void write_all(int descriptor, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(descriptor, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

/// Reads until the end of the file, or for `patience`.
inline std::string read_all(int descriptor, std::chrono::seconds patience) {
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{descriptor, POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0) return text;
    std::array<char, 4096> chunk{};
    const ssize_t got = read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

/// Runs `work` in a forked child, which then exits with 0, or with 1 if `work` threw. After `patience` the child's own
/// SIGALRM kills it; this also works if a real-time thread of the child spins and keeps this process from running.
inline ChildEnd in_child(const std::function<std::string()>& work,
                         std::chrono::seconds patience = std::chrono::seconds(30)) {
  std::array<int, 2> channel{};
  if (pipe(channel.data()) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    close(channel[0]);
    signal(SIGALRM, SIG_DFL);
    alarm(static_cast<unsigned>(patience.count()));
    int code = 0;
    try {
      write_all(channel[1], work());
    } catch (const std::exception& error) {
      write_all(channel[1], std::string("threw: ") + error.what());
      code = 1;
    }
    _exit(code);
  }
  close(channel[1]);
  ChildEnd end;
  end.report = read_all(channel[0], patience + std::chrono::seconds(5));
  close(channel[0]);
  for (int tries = 0; waitpid(child, &end.status, WNOHANG) == 0; ++tries) {
    if (tries == 5000) kill(child, SIGKILL);
    usleep(1000);
  }
  return end;
}

}  // namespace middlemark::test
