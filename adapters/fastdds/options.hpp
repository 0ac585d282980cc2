// What a trial's settings come to in Fast DDS's own terms: a value, made before anything is opened. README.md gives the
// reason for each figure that is not Fast DDS's default.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

enum class Carrier { shm, intraprocess, data_sharing, udp, tcp };

inline constexpr std::uint32_t kib = 1024;
inline constexpr std::uint32_t mib = 1024 * kib;
inline constexpr std::uint32_t max_packet = 65500;  ///< s_maximumMessageSize; a larger sample is cut into fragments
inline constexpr std::uint32_t default_segment = 512 * kib;
inline constexpr std::uint32_t default_queue = 512;
inline constexpr std::int32_t default_max_samples = 5000;
inline constexpr std::int32_t default_allocated_samples = 100;

/// A native key: what it does, the range it takes and the carriers it has an effect on.
struct Key {
  std::string_view name;
  std::string_view text;
  std::uint64_t least;
  std::uint64_t most;
  std::vector<Carrier> carriers;  ///< empty: all
};

[[nodiscard]] inline const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"shm_segment_size",
       "bytes of the shared-memory segment each process sends from (default: four messages, at least 524288)",
       128 * kib,
       2048ULL * mib,
       {Carrier::shm}},
      {"shm_port_queue_capacity",
       "fragments that may wait at a shared-memory port (default: two messages, at least 512)",
       1,
       1'000'000,
       {Carrier::shm}},
      {"socket_buffer_bytes",
       "send and receive buffer of every socket; the kernel caps it at net.core.wmem_max and rmem_max (default: see "
       "README)",
       0,
       1024ULL * mib,
       {Carrier::udp, Carrier::tcp}},
      {"tcp_nodelay",
       "1 (default): small segments are sent at once; 0: Fast DDS's default, Nagle's algorithm",
       0,
       1,
       {Carrier::tcp}},
      {"tcp_crc",
       "1 (default, as Fast DDS's): a checksum over every byte, made and checked; 0: none",
       0,
       1,
       {Carrier::tcp}},
      {"heartbeat_period_ms", "period of a reliable writer's heartbeats (default 100)", 1, 3'600'000, {}},
      {"heartbeat_piggyback",
       "1: heartbeats ride on data (default, but not over TCP with messages that do not fit in one packet); 0: not",
       0,
       1,
       {}},
  };
  return all;
}

[[nodiscard]] inline std::string name_of(Carrier carrier) {
  switch (carrier) {
    case Carrier::shm:
      return "shm";
    case Carrier::intraprocess:
      return "intraprocess";
    case Carrier::data_sharing:
      return "data-sharing";
    case Carrier::udp:
      return "udp";
    case Carrier::tcp:
      return "tcp";
  }
  return {};
}

[[nodiscard]] inline Carrier carrier_of(const std::string& transport) {
  for (const Carrier each : {Carrier::shm, Carrier::intraprocess, Carrier::data_sharing, Carrier::udp, Carrier::tcp}) {
    if (name_of(each) == transport) return each;
  }
  throw AdapterError("fastdds: there is no transport '" + transport + "'",
                     "choose shm, intraprocess, data-sharing, udp or tcp");
}

/// The native settings of a trial, each checked; asked by name. Throws AdapterError for what is unknown, out of range
/// or has no effect on the transport.
class Native {
 public:
  Native(const std::map<std::string, std::string>& given, Carrier carrier) {
    for (const auto& [name, text] : given) {
      const auto key = std::ranges::find(keys(), name, &Key::name);
      if (key == keys().end() && name != "publish_mode") {
        throw AdapterError("fastdds: native: there is no key '" + name + "'", "it knows " + names());
      }
      if (key == keys().end()) {
        if (text != "synchronous" && text != "asynchronous") {
          throw AdapterError("fastdds: native: publish_mode: '" + text + "' is neither synchronous nor asynchronous");
        }
        asynchronous_ = text == "asynchronous";
        continue;
      }
      if (!key->carriers.empty() && std::ranges::find(key->carriers, carrier) == key->carriers.end()) {
        throw AdapterError("fastdds: native: " + name + " has no effect on the transport " + name_of(carrier),
                           "leave it out there");
      }
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size() || value < key->least || value > key->most) {
        throw AdapterError("fastdds: native: " + name + ": '" + text + "' is not a whole number from " +
                           std::to_string(key->least) + " to " + std::to_string(key->most));
      }
      values_[name] = static_cast<std::uint32_t>(value);
    }
  }

  [[nodiscard]] std::uint32_t get(const std::string& name, std::uint64_t otherwise) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(otherwise, std::numeric_limits<std::uint32_t>::max()));
  }
  [[nodiscard]] bool asynchronous() const { return asynchronous_; }

  [[nodiscard]] static std::string names() {
    std::string all = "publish_mode";
    for (const Key& key : keys()) all.append(", ").append(key.name);
    return all;
  }

 private:
  std::map<std::string, std::uint32_t> values_;
  bool asynchronous_ = false;
};

struct Options {
  Carrier carrier = Carrier::shm;
  std::uint32_t segment = default_segment;
  std::uint32_t queue = default_queue;
  std::uint32_t socket_buffer = 0;  ///< 0: the system's
  bool tcp_nodelay = true;
  bool tcp_crc = true;
  bool asynchronous = false;
  bool piggyback = true;
  std::chrono::milliseconds heartbeat{100};
  std::int32_t keep_all_samples = default_max_samples;

  /// Bytes of one writer's data-sharing pool: its history and one message being written.
  [[nodiscard]] std::uint64_t pool_bytes(const Settings& settings) const {
    const std::uint64_t messages = settings.depth ? *settings.depth : static_cast<std::uint64_t>(keep_all_samples);
    return (messages + 1) * (settings.message_bytes + 512);
  }

  explicit Options(const Settings& settings) : carrier(carrier_of(settings.transport)) {
    refuse(settings);
    const Native native(settings.native, carrier);
    const std::uint64_t sample = settings.message_bytes + 512;  // with its headers
    const std::uint64_t fragments = sample / (max_packet - 512) + 1;
    // Under data-sharing this transport carries discovery and acknowledgements only.
    const std::uint64_t in_flight = carrier == Carrier::shm ? 4 * (sample + fragments * 512) : 0;
    segment = native.get("shm_segment_size", std::max<std::uint64_t>(default_segment, in_flight));
    queue = native.get("shm_port_queue_capacity", std::max<std::uint64_t>(default_queue, 2 * fragments));
    const bool udp_fragments = carrier == Carrier::udp && sample > max_packet;
    socket_buffer = native.get("socket_buffer_bytes", udp_fragments ? 4 * sample : 0);
    tcp_nodelay = native.get("tcp_nodelay", 1) != 0;
    tcp_crc = native.get("tcp_crc", 1) != 0;
    const bool tcp_fragments = carrier == Carrier::tcp && sample > max_packet;
    piggyback = native.get("heartbeat_piggyback", tcp_fragments ? 0 : 1) != 0;
    heartbeat = std::chrono::milliseconds(native.get("heartbeat_period_ms", 100));
    asynchronous = native.asynchronous();
    constexpr std::uint64_t keep_all_memory = 256ULL * mib;
    keep_all_samples =
        static_cast<std::int32_t>(std::clamp<std::uint64_t>(keep_all_memory / sample, 4, default_max_samples));
  }

 private:
  void refuse(const Settings& settings) const {
    if (carrier == Carrier::intraprocess && !settings.one_process) {
      throw AdapterError("fastdds: intraprocess delivery does not reach another process", "choose one process, or shm");
    }
    if (carrier == Carrier::tcp && settings.one_process) {
      throw AdapterError("fastdds: over TCP a participant does not reliably connect to itself", "choose two processes");
    }
    if (settings.message_bytes > std::size_t{64} * mib) {
      throw AdapterError("fastdds: a message of " + std::to_string(settings.message_bytes) + " bytes is beyond 64 MiB");
    }
    if (settings.domain < 0 || settings.domain > 232) {
      throw AdapterError("fastdds: " + std::to_string(settings.domain) + " is not a domain",
                         "domains go from 0 to 232");
    }
  }
};

}  // namespace middlemark::fastdds
