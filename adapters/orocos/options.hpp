// Native settings, and the connection policy that follows from a trial's settings.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

#include "rtt.hpp"

namespace middlemark::orocos {

inline constexpr const char* intraprocess = "intraprocess";
inline constexpr const char* corba = "corba";
inline constexpr const char* mqueue = "mqueue";

/// The largest depth. RTT counts the elements of a lock-free buffer in 16 bits, and adds some elements for its threads.
inline constexpr std::uint32_t deepest_buffer = 65'000;

enum class Connection : std::uint8_t { buffer, data };
enum class Locking : std::uint8_t { lock_free, locked };

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  Connection connection = key("connection", Connection::buffer,
                              {.help = "`ConnPolicy::type`: `data` keeps only the newest message; best effort only",
                               .choices = {"buffer", "data"},
                               .transports = {intraprocess, corba, mqueue}});
  bool keep_last = key("keep_last", false,
                       {.help = "`keepLastWrittenValue`: an output port also keeps a copy of its last message",
                        .transports = {intraprocess, corba, mqueue}});
  Locking locking = key("locking", Locking::lock_free,
                        {.help = "`ConnPolicy::lock_policy`",
                         .choices = {"lock_free", "locked"},
                         .transports = {intraprocess, corba, mqueue}});
  std::optional<bool> pull =
      key<bool>("pull", {.help = "`ConnPolicy::pull`: messages wait with their publisher until they are read",
                         .transports = {corba},
                         .otherwise = "true if reliable"});
};

struct Options : Native {
  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("orocos", settings)),
        over_queue_(settings.transport == mqueue),
        over_corba_(settings.transport == corba),
        is_default_(settings.is_default_configuration()) {
    for (const Topic& topic : settings.endpoints) {
      if (!reliable(topic)) continue;
      if (connection == Connection::data)
        throw AdapterError("orocos: connection=data is not reliable: the next message overwrites one that was not read",
                           "ask for best-effort");
      if (over_corba_ && !pull.value_or(true))
        throw AdapterError(
            "orocos: pull=false is not reliable: over CORBA a full buffer drops messages without an error",
            "ask for best-effort");
    }
    if (over_queue_) refuse_too_large_queues(settings);
  }

  [[nodiscard]] static bool reliable(const Topic& topic) { return topic.reliability == Reliability::reliable; }
  [[nodiscard]] bool keeps_last() const { return is_default_ || keep_last; }

  /// Returns the policy of each connection between a publisher and a subscriber.
  [[nodiscard]] RTT::ConnPolicy policy(const Topic& topic) const {
    RTT::ConnPolicy policy;
    if (is_default_) return policy;
    policy.type = connection == Connection::data ? RTT::ConnPolicy::DATA
                  : reliable(topic)              ? RTT::ConnPolicy::BUFFER
                                                 : RTT::ConnPolicy::CIRCULAR_BUFFER;
    policy.size = static_cast<int>(topic.depth.value_or(kept(topic)));
    policy.lock_policy = locking == Locking::locked ? RTT::ConnPolicy::LOCKED : RTT::ConnPolicy::LOCK_FREE;
    policy.init = false;
    policy.pull = over_corba_ && pull.value_or(reliable(topic));
    policy.buffer_policy = RTT::PerConnection;
    policy.mandatory = true;
    policy.transport = over_queue_ ? ORO_MQUEUE_PROTOCOL_ID : 0;
    policy.data_size = over_queue_ ? static_cast<int>(topic.message_bytes) : 0;
    return policy;
  }

  /// Returns the length of a buffer with keep-all, for the messages of each publisher: as many as fit into 64 MiB, at
  /// least 4.
  [[nodiscard]] static std::uint32_t kept(const Topic& topic) {
    constexpr std::size_t keep_all_bytes = std::size_t{64} << 20;
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(keep_all_bytes / topic.message_bytes, 4, deepest_buffer));
  }

 private:
  /// Throws AdapterError when the queues exceed the user's limit (RLIMIT_MSGQUEUE). For each message the kernel also counts
  /// `record_bytes`.
  static void refuse_too_large_queues(const Settings& settings) {
    constexpr std::uint64_t record_bytes = 64;
    std::uint64_t together = 0;
    for (const Topic& topic : settings.endpoints)
      together += std::uint64_t{topic.publishers} * topic.subscribers * topic.depth.value_or(1) *
                  (topic.message_bytes + record_bytes);
    rlimit limit{};
    if (getrlimit(RLIMIT_MSGQUEUE, &limit) != 0 || together <= limit.rlim_cur) return;
    throw AdapterError(
        "orocos: the trial's message queues need " + std::to_string(together) +
            " bytes, but the limit of this user is " + std::to_string(limit.rlim_cur),
        "raise ulimit -q, or ask for a smaller depth, smaller messages or fewer publishers or subscribers");
  }

  bool over_queue_;
  bool over_corba_;
  bool is_default_;
};

}  // namespace middlemark::orocos
