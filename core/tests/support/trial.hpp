// Small trials for tests of single roles: settings, requests, and a ping with a scripted adapter.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/roles/ping.hpp>
#include <middlemark/roles/pong.hpp>

#include "support/scripted_adapter.hpp"

namespace middlemark::test {

inline const Clock& calibrated_clock() {
  static const Clock clock = Clock::calibrate(5, false);
  return clock;
}

/// Returns a scope that no other trial of any test process has.
inline std::string fresh_scope() {
  static int trials = 0;
  return "mmtest_" + std::to_string(getpid()) + "_" + std::to_string(++trials);
}

inline Settings trial_settings(Reception reception, std::size_t message_bytes = 64) {
  Settings settings;
  settings.transport = "shm";
  settings.reception = reception;
  settings.depth = 8;
  settings.one_process = true;
  settings.message_bytes = message_bytes;
  settings.scope = fresh_scope();
  return settings;
}

/// Returns a request for a number of samples. Its timeout is long, so that a reply is late only if a script delays it.
template <class Request = PingRequest>
Request samples_request(std::uint64_t samples) {
  Request request;
  request.samples = samples;
  request.warmup_s = 0;
  request.reply_timeout_s = 20;
  request.limit_s = 60;
  return request;
}

struct PingEnd {
  PingResult result;
  std::optional<ErrorEvent> failure;
  std::vector<Sample> samples;

  [[nodiscard]] std::vector<std::uint64_t> sequences() const {
    std::vector<std::uint64_t> found;
    for (const Sample& sample : samples) found.push_back(sample.sequence);
    return found;
  }
};

/// Runs a ping on this thread. The adapter's script answers.
inline PingEnd run_ping(Scripted& adapter, const Settings& settings, const PingRequest& request, Progress& progress) {
  Ping<Scripted> ping(adapter, settings, request, calibrated_clock(), progress);
  ping.run();
  const auto kept = ping.recorder().samples();
  return {ping.result(), ping.failure(), {kept.begin(), kept.end()}};
}
inline PingEnd run_ping(Scripted& adapter, const Settings& settings, const PingRequest& request) {
  Progress progress;
  return run_ping(adapter, settings, request, progress);
}

/// Returns 1, 2, …, last without the numbers in `missing`.
inline std::vector<std::uint64_t> counting_to(std::uint64_t last, const std::vector<std::uint64_t>& missing = {}) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t n = 1; n <= last; ++n) {
    if (std::find(missing.begin(), missing.end(), n) == missing.end()) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace middlemark::test
