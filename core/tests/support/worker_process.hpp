// Starts a real worker executable and talks to it over pipes, as a launcher does.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/child.hpp"
#include "support/temporary_folder.hpp"
#include "support/trial.hpp"

namespace middlemark::test {

using Json = nlohmann::json;

class WorkerProcess {
 public:
  /// `environment`: entries NAME=value, which are added to the test's own environment.
  explicit WorkerProcess(const std::string& executable, std::vector<std::string> arguments = {},
                         const std::vector<std::string>& environment = {}) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    errors_ = memfd_create("worker-stderr", MFD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);  // a worker that has ended must not end the test
    arguments.insert(arguments.begin(), executable);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(errors_, STDERR_FILENO);
      for (const std::string& setting : environment) putenv(const_cast<char*>(setting.c_str()));
      execv(executable.c_str(), argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~WorkerProcess() {
    leave();
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(errors_);
  }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void say(const Json& command) { say_text(command.dump() + "\n"); }
  void say_text(const std::string& text) { write_all(in_, text); }
  /// Closes the worker's stdin.
  void leave() {
    if (in_ >= 0) close(std::exchange(in_, -1));
  }

  /// Returns the next line, or nullopt if the worker has closed its stdout or sent nothing for a minute.
  std::optional<std::string> next_line() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      pollfd waiting{out_, POLLIN, 0};
      if (std::chrono::steady_clock::now() > deadline || poll(&waiting, 1, 1000) < 0) return std::nullopt;
      if (waiting.revents == 0) continue;
      std::array<char, 4096> chunk{};
      const ssize_t got = read(out_, chunk.data(), chunk.size());
      if (got <= 0) return std::nullopt;
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }

  /// Returns the next event that is neither `tick` nor `measuring`; null after the last one.
  Json next_event() {
    while (const auto line = next_line()) {
      Json event = Json::parse(*line, nullptr, false);
      if (!event.is_object()) return event;
      if (event.value("event", "") == "measuring") {
        measuring.push_back(std::move(event));
      } else if (event.value("event", "") == "tick") {
        ticks.push_back(std::move(event));
      } else {
        return event;
      }
    }
    return nullptr;
  }
  /// Returns the next event, as next_event() does. Throws unless it is `name`.
  Json expect(const std::string& name) {
    Json event = next_event();
    if (!event.is_object() || event.value("event", "") != name) {
      throw std::runtime_error("expected " + name + ", the worker said " + event.dump() + "; stderr: " + errors());
    }
    return event;
  }

  /// Skips ticks until more than `samples` have been measured. Returns false if the worker sends another event.
  bool measured_more_than(std::uint64_t samples) {
    while (const auto line = next_line()) {
      const Json event = Json::parse(*line, nullptr, false);
      if (event.is_object() && event.value("event", "") == "measuring") continue;
      if (!event.is_object() || event.value("event", "") != "tick") return false;
      ticks.push_back(event);
      if (event.at("phase") == "measuring" && event.at("samples").get<std::uint64_t>() > samples) return true;
    }
    return false;
  }

  /// Waits for the end of the worker. Returns the exit code, or minus the number of the signal that ended it.
  int exit_code() {
    while (next_line()) {
    }
    int status = 0;
    for (int tries = 0; waitpid(pid_, &status, WNOHANG) == 0; ++tries) {
      if (tries == 30'000) kill(pid_, SIGKILL);
      usleep(1000);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string errors() const { return read_file("/proc/self/fd/" + std::to_string(errors_)); }

  std::vector<Json> ticks;      ///< ticks skipped so far
  std::vector<Json> measuring;  ///< `measuring` events skipped so far

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int errors_ = -1;
  std::string buffer_;
};

/// A trial with a ping and a pong in one null worker: its folder and its configure command.
class NullTrial {
 public:
  NullTrial() {
    configure = Json::parse(R"({
      "command": "configure",
      "settings": {"transport": "memory", "reliability": "reliable", "reception": "block", "depth": 1, "loan": false,
                   "one_process": true, "message_bytes": 64, "pattern": "ping-pong", "publishers": 1,
                   "subscribers": 1, "workers": 1, "domain": 0, "interface": "lo",
                   "write_timeout_s": 1.0, "native": {}},
      "placement": {"cpus": [], "policy": "other", "priority": 0, "mlock": false, "rt_limit_s": 30},
      "match_timeout_s": 30,
      "roles": [{"role": "ping", "index": 0, "samples": 100, "duration_s": null, "warmup_s": 0.01,
                 "reply_timeout_s": 20, "limit_s": 60, "payload": "filled", "echoing": 1, "cpu": null},
                {"role": "pong", "index": 0, "echoes": true, "echoing": 1, "payload": "filled", "cpu": null}]
    })");
    configure["settings"]["scope"] = scope;
    configure["settings"]["scratch"] = folder.string();
    configure["roles"][0]["samples_path"] = samples_path();
  }
  ~NullTrial() {  // removes the segments, as the launcher does after a worker was killed
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      std::error_code ignored;
      if (entry.path().filename().string().find(scope + "_") != std::string::npos) {
        std::filesystem::remove(entry.path(), ignored);
      }
    }
  }
  NullTrial(const NullTrial&) = delete;
  NullTrial& operator=(const NullTrial&) = delete;

  [[nodiscard]] std::string samples_path() const { return folder / "samples.npy"; }
  /// Makes the trial a stream. The publisher sends as fast as possible if the test sets no load.
  void make_stream(std::uint64_t samples) {
    configure["settings"]["pattern"] = "stream";
    configure["settings"]["topics"] = Json::parse(
        R"([{"message_bytes": 64, "publishers": [0], "subscribers": [0], "reliability": "reliable", "depth": 1}])");
    configure["roles"] = Json::parse(R"([
        {"role": "publisher", "index": 0, "topic": 0, "duration_s": null, "warmup_s": 0, "limit_s": 60,
         "payload": "filled"},
        {"role": "subscriber", "index": 0, "topic": 0, "payload": "filled"}])");
    configure["roles"][0]["samples"] = samples;
    for (Json& role : configure["roles"]) {
      role["samples_path"] = samples_path();
      role["kept"] = samples;
    }
  }
  /// Makes the trial last more than a minute, for tests of events while the roles run. Limits the number of samples, so
  /// that the recorder takes little memory.
  void make_long() {
    configure["roles"][0]["samples"] = 100'000;
    configure["roles"][0]["warmup_s"] = 0;
    configure["roles"][0]["limit_s"] = 300;
    native("every_delay_us", "1000");
  }
  void native(const std::string& key, const std::string& value) { configure["settings"]["native"][key] = value; }

  TemporaryFolder folder;
  std::string scope = fresh_scope();
  Json configure;
};

[[nodiscard]] inline Json command(const std::string& name) { return {{"command", name}}; }

}  // namespace middlemark::test
