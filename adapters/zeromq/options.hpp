// What the settings of a trial, and the native ones, become in ZeroMQ.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "handles.hpp"

namespace middlemark::zeromq {

struct Options {
  bool nodrop = true;
  bool conflate = false;
  bool req_rep = false;
  int send_hwm = 1;
  int receive_hwm = 1;
  int io_threads = 1;
  std::optional<int> send_buffer;
  std::optional<int> receive_buffer;
  int write_timeout_ms = 1000;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings);

  void apply_to(Socket& socket) const {
    socket.set(ZMQ_SNDHWM, send_hwm, "ZMQ_SNDHWM");
    socket.set(ZMQ_RCVHWM, receive_hwm, "ZMQ_RCVHWM");
    socket.set(ZMQ_SNDTIMEO, write_timeout_ms, "ZMQ_SNDTIMEO");
    if (send_buffer) socket.set(ZMQ_SNDBUF, *send_buffer, "ZMQ_SNDBUF");
    if (receive_buffer) socket.set(ZMQ_RCVBUF, *receive_buffer, "ZMQ_RCVBUF");
  }

  [[nodiscard]] static std::map<std::string, std::string> keys() {
    return {
        {"conflate", "true: ZMQ_CONFLATE at the subscriber, which keeps the last message only; best-effort, depth 1"},
        {"io_threads", "threads that move the data of ipc and tcp (1)"},
        {"rcvbuf", "ZMQ_RCVBUF, the kernel's receive buffer of ipc and tcp in bytes (the kernel's own)"},
        {"rcvhwm", "ZMQ_RCVHWM, messages queued at a receiver for each sender; 0: no bound (the depth)"},
        {"rpc", "dealer-router or req-rep: the sockets of request and reply (dealer-router)"},
        {"sndbuf", "ZMQ_SNDBUF, the kernel's send buffer of ipc and tcp in bytes (the kernel's own)"},
        {"sndhwm", "ZMQ_SNDHWM, messages queued at a sender for each receiver; 0: no bound (the depth)"},
    };
  }

 private:
  /// A queue of messages of this size may have so much memory, but never less than a few messages.
  static constexpr std::uint64_t keep_all_bytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t deepest_bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t overhead_bytes = 128;  // of each queued message
  static constexpr int least_queued = 4;

  [[nodiscard]] static int fitting(std::uint64_t bytes, const Settings& settings) {
    const std::uint64_t messages = bytes / (settings.message_bytes + overhead_bytes);
    return static_cast<int>(std::clamp<std::uint64_t>(messages, least_queued, 1'000'000));
  }
  void bound_queues(const Settings& settings);
  void read(const Settings& settings, const std::string& key, const std::string& value);
};

[[nodiscard]] inline int whole_number(const std::string& key, const std::string& value, int least, int most) {
  int number = 0;
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number);
  if (error != std::errc{} || end != last || number < least || number > most) {
    throw AdapterError("zeromq: native." + key + " = '" + value + "' is not a whole number from " +
                       std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

[[nodiscard]] inline bool one_of(const std::string& key, const std::string& value, const char* no, const char* yes) {
  if (value != no && value != yes) {
    throw AdapterError("zeromq: native." + key + " = '" + value + "' is neither " + no + " nor " + yes);
  }
  return value == yes;
}

inline Options::Options(const Settings& settings) : nodrop(settings.reliability == Reliability::reliable) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(settings.write_timeout).count();
  write_timeout_ms = static_cast<int>(std::clamp<std::int64_t>(ms, 1, 1'000'000'000));
  bound_queues(settings);
  for (const auto& [key, value] : settings.native) read(settings, key, value);
  if (conflate && (nodrop || settings.depth != 1U || settings.pattern == Pattern::request_reply)) {
    throw AdapterError("zeromq: native.conflate keeps the last message of a topic only",
                       "ask for best-effort, a depth of 1, and ping-pong or a stream");
  }
}

/// A history as deep as was asked for, or as much as a queue may hold: a reliable sender waits rather than lose, so that
/// keep-all needs no queue without a bound, which a flood would fill the memory with.
inline void Options::bound_queues(const Settings& settings) {
  if (!settings.depth) {
    send_hwm = receive_hwm = fitting(keep_all_bytes, settings);
    notes.push_back("keep-all: the queues hold " + std::to_string(send_hwm) + " messages at either end, then " +
                    (nodrop ? "the publisher waits" : "messages are dropped") + "; native sndhwm and rcvhwm change it");
    return;
  }
  const auto deepest = static_cast<std::uint32_t>(fitting(deepest_bytes, settings));
  send_hwm = receive_hwm = static_cast<int>(std::min(*settings.depth, deepest));
  if (*settings.depth > deepest) {
    notes.push_back("a depth of " + std::to_string(*settings.depth) + " became " + std::to_string(deepest) +
                    ", which is 1 GiB; native sndhwm and rcvhwm change it");
  }
}

inline void Options::read(const Settings& settings, const std::string& key, const std::string& value) {
  constexpr int most_messages = 100'000'000;
  constexpr int most_bytes = 1 << 30;
  const bool in_memory = settings.transport == "inproc";
  if (in_memory && (key == "io_threads" || key == "rcvbuf" || key == "sndbuf")) {
    throw AdapterError("zeromq: native." + key + " has no effect on the transport inproc",
                       "leave it out there, or choose ipc or tcp");
  }
  if (key == "conflate") {
    conflate = one_of(key, value, "false", "true");
  } else if (key == "rpc") {
    req_rep = one_of(key, value, "dealer-router", "req-rep");
    if (settings.pattern != Pattern::request_reply) {
      throw AdapterError("zeromq: native.rpc has an effect on request and reply only", "leave it out");
    }
  } else if (key == "sndhwm") {
    send_hwm = whole_number(key, value, 0, most_messages);
  } else if (key == "rcvhwm") {
    receive_hwm = whole_number(key, value, 0, most_messages);
  } else if (key == "io_threads") {
    io_threads = whole_number(key, value, 1, 64);
  } else if (key == "sndbuf") {
    send_buffer = whole_number(key, value, 1, most_bytes);
  } else if (key == "rcvbuf") {
    receive_buffer = whole_number(key, value, 1, most_bytes);
  } else {
    std::string accepted;
    for (const auto& [known, meaning] : keys()) accepted += (accepted.empty() ? "" : ", ") + known;
    throw AdapterError("zeromq: native." + key + " is not a setting", "one of " + accepted);
  }
}

}  // namespace middlemark::zeromq
