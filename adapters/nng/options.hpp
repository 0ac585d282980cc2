// Native settings, and the NNG options that follow from a trial's settings.
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

namespace middlemark::nng {

/// The largest length of a queue that NNG allows.
inline constexpr int deepest_queue = 8192;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  bool nodelay = key("nodelay", true, {.help = "`tcp-nodelay`; false: Nagle's algorithm", .transports = {"tcp"}});
  bool prefer_new = key(
      "prefer_new", true,
      {.help =
           "`sub:prefnew`: a subscriber whose queue is full drops its oldest message; false: it drops the new message",
       .patterns = {Pattern::ping_pong, Pattern::stream}});
  std::optional<int> recvbuf = key<int>(
      "recvbuf",
      {.help = "`recv-buffer` of `SUB`, messages that wait for a best-effort subscriber, of all publishers together",
       .least = 1,
       .most = deepest_queue,
       .patterns = {Pattern::ping_pong, Pattern::stream},
       .otherwise = "streams: the depth for each publisher; else 128, or the depth if larger"});
  std::chrono::milliseconds resend_time =
      key("resend_time", std::chrono::milliseconds(60'000),
          {.help = "`req:resend-time` in ms: a request without a reply is sent again",
           .least = 1,
           .most = 1'000'000'000,
           .patterns = {Pattern::request_reply}});
  std::optional<int> sendbuf = key<int>(
      "sendbuf", {.help = "`send-buffer` of `PUB` and `PUSH`, messages that wait for each subscriber",
                  .least = 1,
                  .most = deepest_queue,
                  .patterns = {Pattern::ping_pong, Pattern::stream},
                  .otherwise = "streams: the depth; else `PUSH`: the depth, `PUB`: 16, or the depth if larger"});
};

struct Options : Native {
  bool streams = false;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("nng", settings)),
        streams(settings.pattern == Pattern::stream),
        is_default_(settings.is_default_configuration()) {
    for (const Topic& topic : settings.endpoints) {
      if (reliable(topic) || topic.service || recvbuf || topic.capacity().value_or(0) <= deepest_queue) continue;
      throw AdapterError("nng: " + topic.name + ": a subscriber queues at most " + std::to_string(deepest_queue) +
                             " messages of all publishers together",
                         "ask for a depth of " + std::to_string(deepest_queue / topic.publishers));
    }
  }

  [[nodiscard]] static bool reliable(const Topic& topic) { return topic.reliability == Reliability::reliable; }

  /// Returns the length of a publisher's queue for one subscriber, in messages; nullopt to keep NNG's default.
  [[nodiscard]] std::optional<int> send_buffer(const Topic& topic) const {
    if (sendbuf || keeps_defaults(topic)) return sendbuf;
    return queue(topic, topic.depth, reliable(topic) ? 1 : 16);
  }
  [[nodiscard]] std::optional<int> receive_buffer(const Topic& topic) const {
    if (recvbuf || keeps_defaults(topic)) return recvbuf;
    return queue(topic, topic.capacity(), 128);
  }

  /// Returns a note for each queue length that differs from the requested depth. Equal notes appear once.
  [[nodiscard]] std::vector<std::string> notes(const std::vector<Topic>& topics) const {
    std::set<std::string> all;
    for (const Topic& topic : topics) {
      if (topic.service || keeps_defaults(topic) || sendbuf) continue;
      if (!topic.depth) {
        all.insert("keep-all: a queue holds " + std::to_string(fitting(topic)) + " messages, then " +
                   (reliable(topic) ? "the publisher waits" : "the oldest is dropped") +
                   "; native.sendbuf and native.recvbuf change this number");
      } else if (*topic.depth > fitting(topic)) {
        all.insert("the depth of " + std::to_string(*topic.depth) + " was reduced to " +
                   std::to_string(fitting(topic)) +
                   " messages, which is 1 GiB or NNG's limit; native.sendbuf and native.recvbuf change this number");
      }
    }
    return {all.begin(), all.end()};
  }

 private:
  [[nodiscard]] bool keeps_defaults(const Topic& topic) const { return is_default_ && !(streams && topic.depth); }

  /// Returns how many messages fit into 1 GiB, the limit of a queue (with keep-all: 64 MiB).
  [[nodiscard]] static std::uint64_t fitting(const Topic& topic) {
    constexpr std::uint64_t keep_all_bytes = std::uint64_t{64} << 20;
    constexpr std::uint64_t deepest_bytes = std::uint64_t{1} << 30;
    constexpr std::uint64_t overhead_bytes = 256;  // for each queued message
    const std::uint64_t messages =
        (topic.depth ? deepest_bytes : keep_all_bytes) / (topic.message_bytes + overhead_bytes);
    return std::clamp<std::uint64_t>(messages, 4, deepest_queue);
  }
  /// Returns the length of a queue, in messages. `usual` is NNG's default, which is long enough for all patterns except
  /// streams.
  [[nodiscard]] int queue(const Topic& topic, std::optional<std::uint64_t> asked, std::uint64_t usual) const {
    const std::uint64_t most = fitting(topic);
    return static_cast<int>(std::min(std::max(asked.value_or(most), streams ? 1 : usual), most));
  }

  bool is_default_;
};

}  // namespace middlemark::nng
