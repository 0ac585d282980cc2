// What the native settings are, and what a trial's settings become in ZeroMQ.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::zeromq {

enum class Rpc { dealer_router, req_rep };

inline constexpr int most_messages = 100'000'000;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  const kit::NativeRow buffer{.least = 1,
                              .most = 1 << 30,
                              .transports = {"ipc", "tcp"},
                              .otherwise = "the kernel's own",
                              .type = NativeType::bytes};
  const kit::NativeRow queue{.least = 0,
                             .most = most_messages,
                             .otherwise = "of a stream the depth, else 1000 or the depth where that is more"};
  bool conflate =
      key("conflate", false,
          {.help = "`ZMQ_CONFLATE` at the subscriber, which keeps the last message only; best-effort, depth 1",
           .patterns = {Pattern::ping_pong, Pattern::stream}});
  int io_threads = key("io_threads", 1,
                       {.help = "threads that move the data", .least = 1, .most = 64, .transports = {"ipc", "tcp"}});
  std::optional<int> rcvbuf = key<int>("rcvbuf", buffer.saying("`ZMQ_RCVBUF`, the kernel's receive buffer in bytes"));
  std::optional<int> rcvhwm =
      key<int>("rcvhwm", queue.saying("`ZMQ_RCVHWM`, messages queued at a receiver for each sender; 0: no bound"));
  Rpc rpc = key("rpc", Rpc::dealer_router,
                {.help = "the sockets of request and reply",
                 .choices = {"dealer-router", "req-rep"},
                 .patterns = {Pattern::request_reply}});
  std::optional<int> sndbuf = key<int>("sndbuf", buffer.saying("`ZMQ_SNDBUF`, the kernel's send buffer in bytes"));
  std::optional<int> sndhwm =
      key<int>("sndhwm", queue.saying("`ZMQ_SNDHWM`, messages queued at a sender for each receiver; 0: no bound"));
};

struct Options : Native {
  bool nodrop = true;
  int send_hwm = 1;
  int receive_hwm = 1;
  int write_timeout_ms = 1000;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("zeromq", settings)), nodrop(settings.reliability == Reliability::reliable) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(settings.write_timeout).count();
    write_timeout_ms = static_cast<int>(std::clamp<std::int64_t>(ms, 1, 1'000'000'000));
    const int queued = bound(settings);
    send_hwm = sndhwm.value_or(queued);
    receive_hwm = rcvhwm.value_or(queued);
    if (conflate && (nodrop || settings.depth != 1U)) {
      throw AdapterError("zeromq: native.conflate keeps the last message of a topic only",
                         "ask for best-effort and a depth of 1");
    }
  }

 private:
  /// libzmq's own. A mark of 1 makes its threads signal each other twice for every message, and where a message is
  /// answered before the next it keeps nothing back: only a stream's depth is meant.
  static constexpr std::uint32_t usual_mark = 1000;

  /// A history as deep as was asked for, or as much as a queue may hold: a reliable sender waits rather than lose, so that
  /// keep-all needs no queue without a bound, which a flood would fill the memory with.
  int bound(const Settings& settings) {
    constexpr std::uint64_t keep_all_bytes = std::uint64_t{64} << 20;
    constexpr std::uint64_t deepest_bytes = std::uint64_t{1} << 30;
    constexpr std::uint64_t overhead_bytes = 128;  // of each queued message
    const std::uint64_t most =
        (settings.depth ? deepest_bytes : keep_all_bytes) / (settings.message_bytes + overhead_bytes);
    const auto fitting = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most, 4, 1'000'000));
    if (!settings.depth) {
      notes.push_back("keep-all: the queues hold " + std::to_string(fitting) + " messages at either end, then " +
                      (nodrop ? "the publisher waits" : "messages are dropped") +
                      "; native sndhwm and rcvhwm change it");
    } else if (*settings.depth > fitting) {
      notes.push_back("a depth of " + std::to_string(*settings.depth) + " became " + std::to_string(fitting) +
                      ", which is 1 GiB; native sndhwm and rcvhwm change it");
    }
    const std::uint32_t least = settings.pattern == Pattern::stream ? 1 : usual_mark;
    return static_cast<int>(std::min(std::max(settings.depth.value_or(fitting), least), fitting));
  }
};

}  // namespace middlemark::zeromq
