// What is asked of each role: plain values, read by the control thread, frozen while the role runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <middlemark/load.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Of a ping, and of a client, which is a ping that is answered by one server.
struct PingRequest {
  bool client = false;
  unsigned index = 0;  ///< among the clients
  Load load;
  std::optional<std::uint64_t> samples;  ///< messages to send; one of samples and duration_s is set
  std::optional<double> duration_s;
  double warmup_s = 0.2;
  double reply_timeout_s = 1.0;  ///< a reply later than this is no sample
  double limit_s = 120;          ///< the measuring ends here whatever happens
  Payload payload = Payload::filled;
  unsigned echoing = 1;      ///< pongs that reply
  std::string samples_path;  ///< absolute; the .npy is written after the end
  std::optional<int> cpu;
};

/// Of a pong, and of a server, which answers several clients.
struct PongRequest {
  bool serves = false;
  unsigned index = 0;
  bool echoes = true;
  unsigned echoing = 1;  ///< pongs of the trial that reply
  Payload payload = Payload::filled;
  std::string samples_path;  ///< absolute; the .npy of what was stamped is written after the end. Empty: nothing is
  std::optional<std::uint64_t> samples;  ///< messages that will come, all senders together, where it is known
  std::optional<double> duration_s;      ///< or how long they will
  std::optional<int> cpu;
};

struct PublisherRequest {
  unsigned index = 0;
  unsigned topic = 0;
  Load load;
  std::optional<std::uint64_t> samples;  ///< messages to send; one of samples and duration_s is set
  std::optional<double> duration_s;
  double warmup_s = 0.2;
  double limit_s = 120;  ///< the measuring ends here whatever happens
  Payload payload = Payload::filled;
  std::string samples_path;  ///< absolute; the .npy is written after the end
  std::uint64_t kept = 0;    ///< records kept raw; the histogram takes those beyond
  std::optional<int> cpu;
};

struct SubscriberRequest {
  unsigned index = 0;
  unsigned topic = 0;
  Payload payload = Payload::filled;
  std::string samples_path;
  std::uint64_t kept = 0;
  std::optional<int> cpu;
};

}  // namespace middlemark
