// What one trial asks of an adapter, and what an adapter says of itself. Plain values; no middleware is named here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace middlemark {

enum class Reliability { reliable, best_effort };
enum class Reception { poll, block, listen };
enum class Payload { filled, untouched };
enum class Pattern { ping_pong, stream, request_reply };

/// One trial's request. Frozen: an adapter reads it once, when it opens.
struct Settings {
  Pattern pattern = Pattern::ping_pong;
  std::string transport;  ///< one of the names in Description::transports
  Reliability reliability = Reliability::reliable;
  Reception reception = Reception::block;  ///< how the roles will receive; some middlewares must know when they open
  std::optional<std::uint32_t> depth = 1;  ///< keep-last history depth in messages (>= 1); nullopt is keep-all
  bool loan = false;                       ///< write into the middleware's own memory instead of the adapter's
  bool one_process = false;                ///< all roles of the trial live in this process
  std::size_t message_bytes = 16;          ///< size of every message of the trial, the core's header included (>= 16)
  unsigned publishers = 1;                 ///< publishers of a stream, clients of request/reply; 1 under ping-pong
  unsigned subscribers = 1;                ///< of a stream, pongs of a ping-pong (0 if alone); 1 under request/reply
  unsigned topics = 1;                     ///< of a stream; its roles are dealt out over them
  unsigned workers = 2;                    ///< processes of the trial that open the middleware
  int domain = 0;                          ///< 0..232: a DDS domain, or anything else that separates trials
  std::string scope;    ///< unique for the trial, [a-z0-9_]+: every name of topic, segment or port file begins with it
  std::string scratch;  ///< absolute path of a folder of the trial's own, shared by its workers, removed afterwards
  std::string interface = "lo";                           ///< network interface the traffic keeps to
  std::chrono::nanoseconds write_timeout{1'000'000'000};  ///< the longest a publish() may block
  std::map<std::string, std::string>
      native;  ///< the middleware's own settings; an unknown key must be refused by throwing
};

/// A topic of the trial. Both counts are known when the trial starts and include every process.
struct Topic {
  std::string name;  ///< begins with Settings::scope, unique within the trial
  std::size_t message_bytes = 16;
  unsigned publishers = 1;
  unsigned subscribers = 1;
};

/// What one transport of an adapter can carry. Everything not listed is refused before anything runs.
struct Transport {
  std::string name;     ///< "udp", "shm", "data-sharing", …: unique within the adapter
  std::string carrier;  ///< what must be seen to move: "shared-memory", "udp", "tcp", "unix-socket", "process-memory"
  std::vector<std::string>
      segments;  ///< for shared memory: globs of file names under /dev/shm, one of which must be mapped
  std::vector<int> processes{1, 2};  ///< 1: both roles in one process; 2: each role in its own
  std::vector<std::string> receive{"poll", "block", "listen"};
  std::vector<std::string> reliability{"reliable", "best-effort"};
  std::vector<bool> loan{false};                  ///< {false}, {true} or {false, true}
  std::size_t max_bytes = std::size_t{64} << 20;  ///< the largest message_bytes
  std::string max_bytes_advice;                   ///< how to lift max_bytes; empty when it cannot be lifted
  std::optional<std::uint32_t> max_depth;         ///< nullopt: no bound
  bool keep_all = true;                           ///< keep-all history can be honoured
  bool companions = false;                        ///< a daemon is needed: ask Adapter::companions(settings)
  bool alone = false;  ///< nobody else takes part: a ping without pongs, whose own take() brings back what it published
};

/// What an adapter says of itself without opening the middleware.
struct Description {
  std::string name;                   ///< the folder's name
  std::string title;                  ///< as people call it: "Eclipse Cyclone DDS"
  std::string version;                ///< of the library that is loaded, not of the headers
  std::string library;                ///< path of that library; empty when there is none
  std::string licence;                ///< SPDX
  bool floor = false;                 ///< it is what the machine can do, not a middleware
  bool bench_only = false;            ///< it tests the bench itself and is never part of "all"
  std::vector<Transport> transports;  ///< the first is the default
  bool request_reply = false;
  bool security = false;
  bool own_threads =
      false;  ///< the middleware receives on threads of its own, which need a processor beside a polling role
  std::vector<std::string> residue;  ///< absolute globs ({scope} is replaced) of what a killed worker may leave behind
  /// Accepted native keys and what they do. A key that ends in '*' stands for every key that begins so.
  std::map<std::string, std::string> native;
};

/// A daemon that has to run while workers do.
struct Companion {
  std::string name;
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  ///< for the companion and for every worker of the trial
  std::string ready_pattern;  ///< regular expression over a line of its stdout or stderr that says it is ready
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
