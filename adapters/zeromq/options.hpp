// Native settings, and the ZeroMQ options that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::zeromq {

enum class Rpc { dealer_router, req_rep };

inline constexpr int most_messages = 100'000'000;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  const NativeSetting buffer{.least = 1,
                             .most = 1 << 30,
                             .transports = {"ipc", "tcp"},
                             .otherwise = "the kernel's own",
                             .type = NativeType::bytes};
  const NativeSetting queue{
      .least = 0, .most = most_messages, .otherwise = "streams: the depth; else 1000, or the depth if larger"};
  bool conflate =
      key("conflate", false,
          {.help = "`ZMQ_CONFLATE`: the subscriber keeps only the last message; needs best-effort and depth 1",
           .patterns = {Pattern::ping_pong, Pattern::stream}});
  int io_threads = key("io_threads", 1,
                       {.help = "`ZMQ_IO_THREADS`, the number of threads that read and write the sockets",
                        .least = 1,
                        .most = 64,
                        .transports = {"ipc", "tcp"}});
  std::optional<int> rcvbuf = key<int>("rcvbuf", saying("`ZMQ_RCVBUF`, the kernel's receive buffer in bytes", buffer));
  std::optional<int> rcvhwm =
      key<int>("rcvhwm", saying("`ZMQ_RCVHWM`, messages queued at a receiver for each sender; 0: no bound", queue));
  Rpc rpc = key("rpc", Rpc::dealer_router,
                {.help = "the sockets of request and reply",
                 .choices = {"dealer-router", "req-rep"},
                 .patterns = {Pattern::request_reply}});
  std::optional<int> sndbuf = key<int>("sndbuf", saying("`ZMQ_SNDBUF`, the kernel's send buffer in bytes", buffer));
  std::optional<int> sndhwm =
      key<int>("sndhwm", saying("`ZMQ_SNDHWM`, messages queued at a sender for each receiver; 0: no bound", queue));
};

struct Options : Native {
  int write_timeout_ms = 1000;
  bool streams = false;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("zeromq", settings)),
        streams(settings.pattern == Pattern::stream),
        is_default_(settings.is_default_configuration()) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(settings.write_timeout).count();
    write_timeout_ms = static_cast<int>(std::clamp<std::int64_t>(ms, 1, 1'000'000'000));
    for (const Topic& topic : settings.endpoints) {
      if (!conflate || (!nodrop(topic) && topic.depth == 1U)) continue;
      throw AdapterError("zeromq: native.conflate keeps only the last message of a topic",
                         "ask for best-effort and a depth of 1");
    }
  }

  [[nodiscard]] static bool nodrop(const Topic& topic) { return topic.reliability == Reliability::reliable; }
  [[nodiscard]] int send_hwm(const Topic& topic) const { return sndhwm.value_or(bound(topic)); }
  /// Returns after how many messages a best-effort sender calls catch_up(); 0: never.
  [[nodiscard]] unsigned catch_up_every(const Topic& topic) const {
    return is_default_ || nodrop(topic) ? 0 : static_cast<unsigned>((send_hwm(topic) + 1) / 2);
  }
  [[nodiscard]] int receive_hwm(const Topic& topic) const { return rcvhwm.value_or(bound(topic)); }

  /// Returns a note for each queue length that differs from the requested depth. Equal notes appear once.
  [[nodiscard]] std::vector<std::string> notes(const std::vector<Topic>& topics) const {
    std::set<std::string> all;
    for (const Topic& topic : topics) {
      const std::uint32_t fitting = most(topic);
      if (!topic.depth) {
        all.insert("keep-all: the sender's and the receiver's queue hold " + std::to_string(fitting) +
                   " messages each, then " + (nodrop(topic) ? "the publisher waits" : "messages are dropped") +
                   "; native.sndhwm and native.rcvhwm change this number");
      } else if (*topic.depth > fitting) {
        all.insert(
            "the depth of " + std::to_string(*topic.depth) + " was reduced to " + std::to_string(fitting) +
            " messages, which is 1 GiB or the limit of a million; native.sndhwm and native.rcvhwm change this number");
      }
    }
    return {all.begin(), all.end()};
  }

 private:
  /// libzmq's default high-water mark. Round trips use it as well, because with a mark of 1 libzmq's threads would
  /// signal each other twice for every message. Only streams need the depth as a limit: in a round trip no messages
  /// queue up.
  static constexpr std::uint32_t usual_mark = 1000;

  /// Returns how many messages fit into 1 GiB, the limit of a queue (with keep-all: 64 MiB). Keep-all has a limit too,
  /// because a flood would fill the memory. At the limit a reliable sender waits.
  [[nodiscard]] std::uint32_t most(const Topic& topic) const {
    constexpr std::uint64_t keep_all_bytes = std::uint64_t{64} << 20;
    constexpr std::uint64_t deepest_bytes = std::uint64_t{1} << 30;
    constexpr std::uint64_t overhead_bytes = 128;  // for each queued message
    const std::uint64_t messages =
        (topic.depth || is_default_ ? deepest_bytes : keep_all_bytes) / (topic.message_bytes + overhead_bytes);
    if (!topic.depth && is_default_)
      return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(messages, 4, usual_mark));
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(messages, 4, 1'000'000));
  }
  [[nodiscard]] int bound(const Topic& topic) const {
    const std::uint32_t fitting = most(topic);
    return static_cast<int>(std::min(std::max(topic.depth.value_or(fitting), streams ? 1 : usual_mark), fitting));
  }

  bool is_default_;
};

}  // namespace middlemark::zeromq
