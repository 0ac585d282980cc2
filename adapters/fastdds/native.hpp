// Fast DDS's own settings that a trial may name: what each does, the values it takes, where it has an effect.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::fastdds {

enum class Carrier { shm, intraprocess, data_sharing, udp, tcp };

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

/// A native key: what it does, the range it takes and the carriers it has an effect on.
struct Key {
  std::string_view name;
  std::string_view text;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::vector<Carrier> carriers;        ///< empty: all
  std::vector<std::string_view> words;  ///< not empty: its values, each standing for its place here
};

/// What follows it names a property of Fast DDS's.
inline constexpr std::string_view property_prefix = "property.";

[[nodiscard]] inline const std::vector<Key>& keys() {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  constexpr std::uint64_t hour_ms = 3'600'000;
  static const std::vector<Key> all{
      {"publish_mode",
       "synchronous (default): publish sends; asynchronous: a thread of Fast DDS's own sends",
       0,
       0,
       {},
       {"synchronous", "asynchronous"}},
      {"flow_bytes_per_period",
       "most bytes that the writers of a process send in a period, by a flow controller (default 0: no limit); needs "
       "publish_mode=asynchronous",
       0,
       std::numeric_limits<std::int32_t>::max(),
       {},
       {}},
      {"flow_period_ms", "period of the flow controller (default 100, as Fast DDS's)", 1, hour_ms, {}, {}},
      {"flow_scheduler",
       "whose message the flow controller sends next: fifo (default), round-robin, high-priority or "
       "priority-with-reservation",
       0,
       0,
       {},
       {"fifo", "round-robin", "high-priority", "priority-with-reservation"}},
      {"max_message_size",
       "bytes of the largest packet; a larger message is cut into fragments of nearly that size (default 65500)",
       1000,
       65'500,
       {Carrier::shm, Carrier::udp, Carrier::tcp},
       {}},
      {"shm_segment_size",
       "bytes of the shared-memory segment each process sends from (default: see README, at least 524288)",
       128 * kib,
       2048 * mib,
       {Carrier::shm, Carrier::data_sharing},
       {}},
      {"shm_port_queue_capacity",
       "packets that may wait at a shared-memory port, and that a segment can hold (default: see README, at least 512)",
       1,
       1'000'000,
       {Carrier::shm, Carrier::data_sharing},
       {}},
      {"socket_buffer_bytes",
       "send and receive buffer of every socket; the kernel caps it at net.core.wmem_max and rmem_max (default: see "
       "README)",
       0,
       1024 * mib,
       {Carrier::udp, Carrier::tcp},
       {}},
      {"udp_non_blocking_send",
       "1: a datagram that the send buffer has no room for is dropped; 0 (default): publish waits",
       0,
       1,
       {Carrier::udp},
       {}},
      {"tcp_nodelay",
       "1 (default): small segments are sent at once; 0: Fast DDS's default, Nagle's algorithm",
       0,
       1,
       {Carrier::tcp},
       {}},
      {"tcp_crc",
       "1 (default, as Fast DDS's): a checksum over every byte, made and checked; 0: none",
       0,
       1,
       {Carrier::tcp},
       {}},
      {"heartbeat_period_ms", "period of a reliable writer's heartbeats (default: see README)", 1, hour_ms, {}, {}},
      {"heartbeat_piggyback",
       "1: heartbeats ride on data (default, but not over TCP with messages that do not fit in one packet); 0: not",
       0,
       1,
       {},
       {}},
      {"nack_response_delay_ms",
       "how long a reliable writer waits before it resends what was asked for (default 5, as Fast DDS's)",
       0,
       hour_ms,
       {},
       {}},
      {"nack_suppression_ms",
       "how long after sending a message a reliable writer ignores that it is asked for (default 0, as Fast DDS's)",
       0,
       hour_ms,
       {},
       {}},
      {"heartbeat_response_delay_ms",
       "how long a reliable reader waits before it answers a heartbeat (default 5, as Fast DDS's)",
       0,
       hour_ms,
       {},
       {}},
      {"positive_acks_off_ms",
       "0 (default): readers acknowledge; else they only ask for what they miss, and a writer takes what is that many "
       "ms "
       "old for received",
       0,
       hour_ms,
       {},
       {}},
      {"max_samples",
       "messages a keep-all history holds, of each publisher: when they are not acknowledged publish waits, as at a "
       "high-water mark (default: see README)",
       1,
       10'000'000,
       {},
       {}},
      {"allocated_samples",
       "messages a history has memory for from the start (default: at most 100)",
       0,
       10'000'000,
       {},
       {}},
      {"extra_samples",
       "messages a writer's pool holds beyond its history (default 1, as Fast DDS's; more under data-sharing, see "
       "README)",
       1,
       10'000,
       {},
       {}},
      {"history_memory",
       "preallocated-with-realloc (default), preallocated, dynamic, dynamic-reusable: how histories get memory for "
       "messages; data-sharing knows the first two",
       0,
       0,
       {},
       {"preallocated", "preallocated-with-realloc", "dynamic", "dynamic-reusable"}},
      {"send_buffers",
       "buffers a participant makes to build packets in (default 0, as Fast DDS's: as many as it has threads)",
       0,
       10'000,
       {},
       {}},
      {"send_buffers_dynamic",
       "1: more send buffers are made when all are in use; 0 (default): publish waits",
       0,
       1,
       {},
       {}},
  };
  return all;
}

/// The native settings of a trial, each checked; asked by name. Throws AdapterError for what is unknown, out of range
/// or has no effect on the transport.
class Native {
 public:
  Native(const std::map<std::string, std::string>& given, Carrier carrier) {
    for (const auto& [name, text] : given) {
      if (name.starts_with(property_prefix) && name.size() > property_prefix.size()) {
        properties_.emplace_back(name.substr(property_prefix.size()), text);
        continue;
      }
      const auto key = std::ranges::find(keys(), name, &Key::name);
      if (key == keys().end()) {
        throw AdapterError("fastdds: native: there is no key '" + name + "'", "it knows " + names());
      }
      if (!key->carriers.empty() && std::ranges::find(key->carriers, carrier) == key->carriers.end()) {
        throw AdapterError("fastdds: native: " + name + " has no effect on the transport " + name_of(carrier),
                           "leave it out there");
      }
      values_[name] = key->words.empty() ? number(*key, text) : word(*key, text);
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::uint32_t get(const std::string& name, std::uint64_t otherwise) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(otherwise, std::numeric_limits<std::uint32_t>::max()));
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& properties() const { return properties_; }

 private:
  [[nodiscard]] static std::uint32_t number(const Key& key, const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < key.least || value > key.most) {
      throw AdapterError("fastdds: native: " + std::string(key.name) + ": '" + text + "' is not a whole number from " +
                         std::to_string(key.least) + " to " + std::to_string(key.most));
    }
    return static_cast<std::uint32_t>(value);
  }

  [[nodiscard]] static std::uint32_t word(const Key& key, const std::string& text) {
    const auto found = std::ranges::find(key.words, text);
    if (found != key.words.end()) return static_cast<std::uint32_t>(found - key.words.begin());
    std::string known;
    for (const std::string_view each : key.words) known.append(known.empty() ? "" : ", ").append(each);
    throw AdapterError("fastdds: native: " + std::string(key.name) + ": '" + text + "' is none of " + known);
  }

  [[nodiscard]] static std::string names() {
    std::string all;
    for (const Key& key : keys()) all.append(key.name).append(", ");
    return all.append(property_prefix).append("*");
  }

  std::map<std::string, std::uint32_t> values_;
  std::vector<std::pair<std::string, std::string>> properties_;
};

}  // namespace middlemark::fastdds
