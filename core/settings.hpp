// What one trial asks of an adapter, and what an adapter says of itself. Plain values; no middleware is named here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <middlemark/protocol.hpp>

namespace middlemark {

/// A topic, or a service, of the trial. All counts are known when the trial starts.
struct Topic {
  std::string name;  ///< [a-z0-9_]+, at most 63 characters; begins with Settings::scope, unique within the trial
  std::size_t message_bytes = 16;
  unsigned publishers = 1;                 ///< of the whole trial, in every process; of a service: its clients
  unsigned subscribers = 1;                ///< likewise; of a service: 1, its server
  std::optional<std::uint32_t> depth = 1;  ///< keep-last history depth in messages (>= 1); nullopt is keep-all
  Reliability reliability = Reliability::reliable;
  MessageType type = MessageType::octets;  ///< another: message_bytes are its main array's, see kit/messages.hpp
  bool service = false;                    ///< request and reply of the middleware's own: see HasRequestReply
  unsigned publishers_here = 0;            ///< of those, in this process
  unsigned subscribers_here = 0;
  unsigned subscriber_processes = 0;  ///< the subscribers are in so many; 0: each in its own, or all in this one
  bool varies = false;                ///< a message has at most message_bytes; else exactly so many
  std::uint32_t history =
      0;  ///< transient-local: so many messages must reach a subscriber that joins late; 0: volatile

  /// Messages that wait for a subscriber when each publisher has filled its history; nullopt: without a bound. Where a
  /// middleware has one queue for all publishers, a shallower one would let them push each other's messages out.
  [[nodiscard]] std::optional<std::uint64_t> capacity() const {
    if (!depth) return std::nullopt;
    return std::uint64_t{*depth} * publishers;
  }
};

/// The transport that is the middleware as a user gets it who configures nothing: nothing is set but what keeps a trial apart from others
/// and on its interface. It is described last, and measured only where it is named.
inline constexpr const char* as_it_comes = "default";

/// One trial's request. Frozen: an adapter reads it once, when it opens. What is not here is in RequestedSettings (protocol.hpp).
struct Settings : RequestedSettings {
  /// Every topic and service of the trial, also those that this process has no part in: what to size queues and pools by,
  /// instead of deriving it from the pattern and the counts. Asked for companions, which start first, `…_here` is 0.
  std::vector<Topic> endpoints{};

  [[nodiscard]] bool comes_as_it_is() const { return transport == as_it_comes; }

  /// Whether there is request and reply of the middleware's own in the trial.
  [[nodiscard]] bool calls_service() const { return std::ranges::any_of(endpoints, &Topic::service); }
};

/// What one transport of an adapter can carry. Everything not listed is refused before anything runs.
struct Transport {
  std::string name{};  ///< "udp", "shm", "data-sharing", …: unique within the adapter; see as_it_comes
  /// What must be seen to move: "shared-memory", "udp", "tcp", "unix-socket", "message-queue", "process-memory"; "any": the middleware
  /// chooses, and what is seen is told.
  std::string carrier{};
  std::vector<std::string>
      segments{};  ///< of shared memory: globs of names under /dev/shm, one of which must be mapped; of System V: "SYSV*"
  std::vector<int> processes{1, 2};  ///< 1: both roles in one process; 2: each role in its own
  std::vector<std::string> receive{"poll", "block", "listen"};
  std::vector<std::string> reliability{"reliable", "best-effort"};
  std::vector<bool> loan{false};  ///< {false}, {true} or {false, true}
  /// At which of those levels a receiver is given a pointer or the index of a chunk, and nothing copies the bytes; empty: it always copies.
  std::vector<bool> hands_over{};
  std::size_t max_bytes = std::size_t{64} << 20;  ///< the largest message_bytes
  std::string max_bytes_advice{};                 ///< how to lift max_bytes; empty when it cannot be lifted
  std::optional<std::uint32_t> max_depth{};       ///< nullopt: no bound
  bool keep_all = true;                           ///< keep-all history can be honoured
  bool companions = false;                        ///< a daemon is needed: ask Adapter::companions(settings)
  bool own_network = false;  ///< it listens on every interface: a trial is given a network that has lo alone
  bool alone = false;  ///< nobody else takes part: a ping without pongs, whose own take() brings back what it published
  std::string best_effort_carrier{};  ///< what moves best effort, where that is not `carrier`; no service of its own
  std::vector<MessageType> types{MessageType::octets};  ///< of messages, octets first
  bool varying_sizes = false;                           ///< messages of a topic may be shorter than its largest
  bool services = false;                                ///< of a graph are request and reply of the middleware's own
  std::optional<std::uint32_t> max_history = 0;    ///< of a transient-local topic; 0: volatile only, nullopt: no bound
  std::vector<Security> security{Security::none};  ///< the levels that it has; see Adapter::protected_by()
  std::string security_why{};                      ///< why it has no others; empty: nothing is to be said of it
  bool permissions = false;  ///< at those levels peers give nothing to an identity without them: "intruder"
};

/// What the text of a native setting is read as.
enum class NativeType {
  boolean,   ///< true or false (also 1 and 0, on and off)
  integer,   ///< a whole number
  bytes,     ///< a whole number, or one with a unit: 65536, 64KiB
  duration,  ///< a number with a unit: 500us, 1.5ms
  choice,    ///< one of a few words
  text,      ///< anything; the adapter looks at it
  file,      ///< absolute path of a file of the user's, whose bytes are part of what is measured
};

/// One of the middleware's own settings. The core refuses what does not fit before the middleware is opened.
struct NativeSetting {
  std::string key{};  ///< one that ends in '*' stands for every key that begins so
  NativeType type = NativeType::text;
  std::optional<std::int64_t> least{};    ///< of a number; of a duration in ns
  std::optional<std::int64_t> most{};     ///< likewise
  std::vector<std::string> choices{};     ///< of a choice; of a number: words that it may be instead
  std::string otherwise{};                ///< the default, in words
  std::vector<std::string> transports{};  ///< that it has an effect on; empty: all
  std::vector<Pattern> patterns{};        ///< likewise
  std::string help{};                     ///< what it does
};

/// What an adapter says of itself without opening the middleware.
struct Description {
  std::string name{};                   ///< the folder's name
  std::string title{};                  ///< as people call it: "Eclipse Cyclone DDS"
  std::string version{};                ///< of the library that is loaded, not of the headers
  std::string library{};                ///< path of that library; empty when there is none
  std::string licence{};                ///< SPDX
  bool floor = false;                   ///< it is what the machine can do, not a middleware
  bool bench_only = false;              ///< it tests the bench itself and is never part of "all"
  std::vector<Transport> transports{};  ///< the first is the default
  bool request_reply = false;
  std::vector<std::string>
      credentials{};  ///< what of a set of certificates it reads: "x509", "dds", "curve"; see docs/security.md
  bool own_threads =
      false;  ///< the middleware receives on threads of its own, which need a processor beside a polling role
  std::vector<std::string>
      residue{};  ///< what a killed worker may leave: absolute globs ({scope} is replaced); of System V: "sysv:*"
  std::vector<NativeSetting> native{};  ///< all that it accepts: of a kit/native.hpp table
};

/// A daemon that has to run while workers do.
struct Companion {
  std::string name{};
  std::vector<std::string> argv{};
  std::map<std::string, std::string> environment{};  ///< for the companion and for every worker of the trial
  std::string ready_pattern{};  ///< regular expression over a line of its stdout or stderr that says it is ready
  double ready_timeout_s = 10;
};

/// Something cannot be done; what() names the thing and the place, advice() the next step. Only ever thrown before the start.
class AdapterError : public std::runtime_error {
 public:
  explicit AdapterError(const std::string& text, std::string advice = {})
      : std::runtime_error(text), advice_(std::move(advice)) {}
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

 private:
  std::string advice_;
};

}  // namespace middlemark
