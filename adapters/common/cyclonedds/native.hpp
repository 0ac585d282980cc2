// The native settings of Cyclone DDS: paths below CycloneDDS/Domain, quality of service, and settings of the adapter.
// README.md explains each.
#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

#include "user_file.hpp"
#include "version.hpp"

namespace middlemark::cyclonedds {

/// A trial's native settings as elements of Cyclone DDS's configuration.
struct NativeElements : kit::NativeKeys {
  explicit NativeElements(const Settings* trial = nullptr);

  std::map<std::string, std::string> given;             ///< keys of the native table, by path below CycloneDDS/Domain
  std::optional<std::chrono::nanoseconds> flush_after;  ///< nullopt: the default, 1 ms
  std::chrono::nanoseconds latency_budget{0};
  std::int32_t transport_priority = 0;
  std::optional<std::string> config;       ///< path of the user's own configuration
  std::map<std::string, std::string> any;  ///< settings of the form Domain/<path>, by path

 protected:
  static constexpr const char* write_batch = "Internal/WriteBatch";

  void element(const std::string& path, const NativeSetting& about) {
    const auto text = key<std::string>(path, about);
    if (!text) return;
    const auto number = kit::native_number(about, *text);
    // Cyclone DDS requires a unit after every number.
    given[path] = !number                              ? *text
                  : about.type == NativeType::bytes    ? std::to_string(*number) + "B"
                  : about.type == NativeType::duration ? std::to_string(*number) + "ns"
                                                       : kit::native_text(about, *number);
  }
};

/// A trial's checked native settings. The constructor throws an AdapterError for a setting that is wrong, that is given
/// twice, or that a factor of the trial sets.
class Native : public NativeElements {
 public:
  explicit Native(const Settings& settings);

  /// Returns the values of elements by their path below CycloneDDS/Domain.
  [[nodiscard]] std::map<std::string, std::string> elements() const {
    std::map<std::string, std::string> all = any;
    for (const auto& [path, value] : given) {
      if (batching_is_a_quality && path == write_batch) continue;
      const bool socket = path.ends_with("SocketReceiveBufferSize") || path.ends_with("SocketSendBufferSize");
      all[socket ? path + "/@max" : path] = value;
    }
    return all;
  }

  /// True if the trial sets the size of datagrams or of fragments.
  [[nodiscard]] bool sizes_datagrams() const {
    return bytes("General/MaxMessageSize") || bytes("General/FragmentSize");
  }
  [[nodiscard]] std::int64_t max_message_bytes() const { return bytes("General/MaxMessageSize").value_or(65500); }
  /// Returns the size in bytes of the largest fragment that fits into a datagram together with the RTPS headers.
  [[nodiscard]] std::int64_t fragment_bytes() const {
    return bytes("General/FragmentSize").value_or(max_message_bytes() - packet_overhead_bytes);
  }
  [[nodiscard]] std::optional<std::int64_t> receive_buffer_bytes() const {
    return bytes("Internal/SocketReceiveBufferSize");
  }
  /// True if General/AllowMulticast excludes the discovery of participants (spdp).
  [[nodiscard]] bool discovers_by_unicast() const {
    const auto found = given.find("General/AllowMulticast");
    return found != given.end() && found->second != "true" && found->second.find("spdp") == std::string::npos;
  }
  [[nodiscard]] bool batches() const {
    const auto found = given.find(write_batch);
    return found != given.end() && found->second == "true";
  }

 private:
  static constexpr std::int64_t packet_overhead_bytes = 500;

  [[nodiscard]] std::optional<std::int64_t> bytes(const std::string& path) const {
    const auto found = given.find(path);
    return found == given.end() ? std::nullopt : kit::native_number({.type = NativeType::bytes}, found->second);
  }

  static Settings by_their_own_names(Settings settings);
  void check_watermarks() const;
  static void check_path(const std::string& path, const std::string& value);
};

inline NativeElements::NativeElements(const Settings* trial) : NativeKeys(trial) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  constexpr std::int64_t s = 1'000'000'000;
  const auto network = [this](const char* path, NativeType type, NativeSetting row) {
    row.type = type;
    row.transports = {"udp"};
    element(path, row);
  };
  const auto size = [&](const char* path, std::int64_t least, std::int64_t most, const char* otherwise,
                        const char* help) {
    network(path, NativeType::bytes, {.help = help, .least = least, .most = most, .otherwise = otherwise});
  };
  const auto duration = [&](const char* path, std::int64_t least, std::int64_t most, const char* otherwise,
                            const char* help) {
    network(path, NativeType::duration,
            {.help = help, .least = least, .most = most, .choices = {"inf"}, .otherwise = otherwise});
  };
  const auto word = [&](const char* path, std::vector<std::string> choices, const char* otherwise, const char* help) {
    network(path, NativeType::choice, {.help = help, .choices = std::move(choices), .otherwise = otherwise});
  };
  element("General/AllowMulticast", {.help = "what is sent by multicast: true, false, or a list of spdp, asm, ssm"});
  static const std::regex form("true|false|(spdp|asm|ssm)(,(spdp|asm|ssm))*");
  if (given.contains("General/AllowMulticast") && !std::regex_match(given["General/AllowMulticast"], form)) {
    complain("General/AllowMulticast", "true, false, or a list of spdp, asm, ssm");
  }
  size("General/FragmentSize", 256, 65000, "65000B, or what fits in MaxMessageSize",
       "size of the fragments of a large sample");
  size("General/MaxMessageSize", 1024, 65500, "65500B", "largest datagram");
  size("General/MaxRexmitMessageSize", 256, 65500, "1456B", "largest datagram of a resend");
  duration("Internal/AckDelay", 0, s, "10ms", "how long a reader delays an acknowledgement");
  duration("Internal/HeartbeatInterval", 100'000, 10 * s, "100ms", "how often a writer asks for acknowledgements");
  word("Internal/MultipleReceiveThreads", {"default", "true", "false"}, "default",
       "one receive thread for unicast and one for multicast, or one for both");
  duration("Internal/NackDelay", 0, 10 * s, "100ms", "how long a reader waits before it asks for a resend");
  word("Internal/RetransmitMerging", {"never", "adaptive", "always"}, "never", "one resend for several readers");
  size("Internal/SocketReceiveBufferSize", 4096, gib, "16MiB or two messages, as far as `net.core.rmem_max` allows",
       "receive buffer of the sockets");
  size("Internal/SocketSendBufferSize", 4096, gib, "64KiB and more", "send buffer of the sockets");
  duration("Internal/SynchronousDeliveryLatencyBound", 0, 100 * s, "inf",
           "samples with a latency budget up to this value are delivered on the receive thread, others on another "
           "thread");
  network("Internal/SynchronousDeliveryPriorityThreshold", NativeType::integer,
          {.help = "samples with at least this transport priority are delivered on the receive thread",
           .least = -1'000'000'000,
           .most = 1'000'000'000,
           .otherwise = "0"});
  word("Internal/Watermarks/WhcAdaptive", {"true", "false"}, "true", "adapt WhcHigh to the speed of the readers");
  size("Internal/Watermarks/WhcHigh", 1, gib, "500kB",
       "the writer's high-water mark: unacknowledged bytes at which a reliable writer blocks");
  size("Internal/Watermarks/WhcHighInit", 1, gib, "30kB", "initial value of an adaptive WhcHigh");
  size("Internal/Watermarks/WhcLow", 0, gib, "1kB", "unacknowledged bytes at which a blocked writer continues");
  word(write_batch, {"true", "false"}, "false",
       "batching: collect small samples in one datagram until it is full or flush_after has passed");
  flush_after = key<std::chrono::nanoseconds>(
      "flush_after", {.help = "with Internal/WriteBatch: the longest time that a sample waits for its datagram to fill",
                      .least = 50'000,
                      .most = s,
                      .transports = {"udp"},
                      .otherwise = "1ms"});
  latency_budget = key("latency_budget", latency_budget,
                       {.help = "quality of service of writers and readers", .least = 0, .most = 100 * s});
  transport_priority =
      key("transport_priority", transport_priority,
          {.help = "quality of service of writers and readers", .least = -1'000'000'000, .most = 1'000'000'000});
  config = key<std::string>(
      "config",
      {.help = "a file with your own configuration, as for CYCLONEDDS_URI: see --config", .type = NativeType::file});
  any = keys(
      "Domain/*",
      {.help = "any element of Cyclone DDS's configuration by its path, such as Domain/Internal/MaxQueuedRexmitBytes, "
               "or an attribute, such as Domain/Internal/HeartbeatInterval/@max; Cyclone DDS checks it"});
}

/// Renames the key `Domain/<path>` to `<path>` if the native table has this key, so that its value is checked as the
/// table requires.
inline Settings Native::by_their_own_names(Settings settings) {
  const kit::NativeTable table = kit::native_table<NativeElements>();
  std::map<std::string, std::string> native;
  for (const auto& [key, value] : settings.native) {
    const std::string path = key.starts_with("Domain/") ? key.substr(7) : key;
    const auto found = std::ranges::find(table, lower(path), [](const auto& row) { return lower(row.first); });
    if (!native.emplace(found == table.end() ? key : found->first, value).second) {
      throw AdapterError("Cyclone DDS: native." + key + " is given twice", "write it once, with or without 'Domain/'");
    }
  }
  settings.native = std::move(native);
  return settings;
}

inline Native::Native(const Settings& settings)
    : NativeElements(kit::read_native<NativeElements>("Cyclone DDS", by_their_own_names(settings))) {
  for (const auto& [path, value] : any) check_path(path, value);
  if (flush_after && !batches()) {
    throw AdapterError("Cyclone DDS: native.flush_after has no effect without batching",
                       "add Internal/WriteBatch = true, or leave out flush_after");
  }
  check_watermarks();
  if (fragment_bytes() > max_message_bytes() - packet_overhead_bytes) {
    const std::string most = std::to_string(max_message_bytes() - packet_overhead_bytes) + "B";
    throw AdapterError("Cyclone DDS: native.General/FragmentSize = '" + given.at("General/FragmentSize") +
                           "' does not fit into a datagram of " + std::to_string(max_message_bytes()) + "B",
                       "at most " + most + ", or raise General/MaxMessageSize");
  }
}

/// Throws an AdapterError if the watermarks do not ascend. Cyclone DDS would only report "Invalid watermark settings".
inline void Native::check_watermarks() const {
  const std::int64_t low = bytes("Internal/Watermarks/WhcLow").value_or(1 << 10);
  const std::int64_t first = bytes("Internal/Watermarks/WhcHighInit").value_or(30 << 10);
  const std::int64_t high = bytes("Internal/Watermarks/WhcHigh").value_or(500 << 10);
  if (low <= first && first <= high) return;
  throw AdapterError("Cyclone DDS: native.Internal/Watermarks: WhcLow " + std::to_string(low) + "B, WhcHighInit " +
                         std::to_string(first) + "B and WhcHigh " + std::to_string(high) + "B do not ascend",
                     "set all three: the defaults are 1kB, 30kB and 500kB");
}

/// Throws an AdapterError for a path that is malformed, or that names an element which a factor of the trial sets.
inline void Native::check_path(const std::string& path, const std::string& value) {
  static const std::map<std::string, const char*> factors{
      {"@id", "domain"},
      {"discovery/externaldomainid", "domain"},
      {"general/interfaces", "interface"},
      {"general/networkinterfaceaddress", "interface"},
      {"general/transport", "transport"},
      {"tcp/enable", "transport"},
      {"ssl/enable", "transport"},
      {"sharedmemory", "transport"},
      {"ddssecurity", "security"},
      {"security", "security"},
  };
  const std::string key = "Cyclone DDS: native.Domain/" + path;
  if (!std::regex_match(path, std::regex("([A-Za-z0-9]+(/[A-Za-z0-9]+)*/)?@?[A-Za-z0-9_]+"))) {
    throw AdapterError(key + " is not a path of elements",
                       "write it as Domain/Internal/HeartbeatInterval or Domain/Internal/HeartbeatInterval/@max");
  }
  const std::string wanted = lower(path);
  if (wanted.starts_with("unsupported/")) {
    throw AdapterError(key + ": 'Unsupported' is an old name", "write Domain/Internal/…");
  }
  for (const auto& [element, factor] : factors) {
    if (wanted != element && !wanted.starts_with(element + "/")) continue;
    throw AdapterError(key + " is set by the factor '" + factor + "'", std::string("choose it with ") + factor);
  }
  if (std::ranges::any_of(value, [](unsigned char c) { return std::iscntrl(c) != 0; })) {
    throw AdapterError(key + ": XML cannot contain control characters");
  }
}

}  // namespace middlemark::cyclonedds
