// The native keys: what each takes, and what a trial's native settings come to. README.md says what each is good for.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

#include "version.hpp"

namespace middlemark::cyclonedds {

enum class Form { size, duration, whole_number, word };

/// Where a key has an effect.
enum class Reach { everywhere, network };

/// A key by its path below CycloneDDS/Domain, or a quality of service or setting of the adapter's own.
struct NativeKey {
  const char* path;
  Form form;
  Reach reach;
  double least;  ///< bytes, nanoseconds or the number itself
  double most;
  const char* words;  ///< what it may be besides: a regular expression that is as readable as a list
  const char* text;
};

inline constexpr double kib = 1024;
inline constexpr double gib = kib * kib * kib;
inline constexpr double ms = 1e6;
inline constexpr double s = 1e9;
inline constexpr const char* boolean = "true|false";

inline constexpr NativeKey native_keys[] = {
    {"General/AllowMulticast", Form::word, Reach::everywhere, 0, 0, "true|false|(spdp|asm|ssm)(,(spdp|asm|ssm))*",
     "what may go out as multicast"},
    {"General/FragmentSize", Form::size, Reach::network, 256, 65000, "",
     "size of the pieces a large sample is cut into (here 65000B, or what fits in MaxMessageSize)"},
    {"General/MaxMessageSize", Form::size, Reach::network, 1024, 65500, "", "largest datagram (here 65500B)"},
    {"General/MaxRexmitMessageSize", Form::size, Reach::network, 256, 65500, "",
     "largest datagram that is sent again (1456B)"},
    {"Internal/AckDelay", Form::duration, Reach::network, 0, 1 * s, "inf",
     "how long a reader holds back an acknowledgement (10ms)"},
    {"Internal/HeartbeatInterval", Form::duration, Reach::network, 0.1 * ms, 10 * s, "inf",
     "how often a writer asks for acknowledgements (100ms)"},
    {"Internal/MultipleReceiveThreads", Form::word, Reach::network, 0, 0, "default|true|false",
     "a receive thread each for unicast and multicast, or one"},
    {"Internal/NackDelay", Form::duration, Reach::network, 0, 10 * s, "inf",
     "how long a reader waits before it asks for a resend (100ms)"},
    {"Internal/RetransmitMerging", Form::word, Reach::network, 0, 0, "never|adaptive|always",
     "one resend for several readers (never)"},
    {"Internal/SocketReceiveBufferSize", Form::size, Reach::network, 4 * kib, gib, "",
     "receive buffer of the sockets (here 16MiB or two messages, as far as net.core.rmem_max allows)"},
    {"Internal/SocketSendBufferSize", Form::size, Reach::network, 4 * kib, gib, "",
     "send buffer of the sockets (64KiB and more)"},
    {"Internal/SynchronousDeliveryLatencyBound", Form::duration, Reach::network, 0, 100 * s, "inf",
     "samples of a latency budget up to this are delivered on the receive thread, others on a thread of their own "
     "(inf)"},
    {"Internal/SynchronousDeliveryPriorityThreshold", Form::whole_number, Reach::network, -1e9, 1e9, "",
     "the same for samples of a transport priority from this on (0)"},
    {"Internal/Watermarks/WhcAdaptive", Form::word, Reach::network, 0, 0, boolean,
     "let WhcHigh follow the readers' pace (true)"},
    {"Internal/Watermarks/WhcHigh", Form::size, Reach::network, 1, gib, "",
     "the writer's high-water mark: unacknowledged bytes at which a reliable writer blocks (500kB)"},
    {"Internal/Watermarks/WhcHighInit", Form::size, Reach::network, 1, gib, "",
     "where an adaptive WhcHigh begins (30kB)"},
    {"Internal/Watermarks/WhcLow", Form::size, Reach::network, 0, gib, "", "bytes at which it goes on (1kB)"},
    {"Internal/WriteBatch", Form::word, Reach::network, 0, 0, boolean,
     "batching: gather small samples into one datagram, until it is full or flush_after has passed (false)"},
    {"flush_after", Form::duration, Reach::network, 0.05 * ms, 1 * s, "",
     "with Internal/WriteBatch: how long a sample waits at most for its datagram to fill (1ms)"},
    {"latency_budget", Form::duration, Reach::everywhere, 0, 100 * s, "", "quality of service of both ends (0ns)"},
    {"transport_priority", Form::whole_number, Reach::everywhere, -1e9, 1e9, "", "quality of service of both ends (0)"},
};

/// Any other setting of Cyclone DDS's: Domain/<path>, and a last step '@name' for an attribute.
inline constexpr const char* any_path_text =
    "any element of Cyclone DDS's configuration by its path, as Domain/Internal/MaxQueuedRexmitBytes, or an attribute "
    "as Domain/Internal/HeartbeatInterval/@max; Cyclone DDS checks it";

[[nodiscard]] inline std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Bytes of "512kB" or nanoseconds of "1.5ms", as Cyclone DDS counts them (a kB has 1024); nothing when it is neither.
[[nodiscard]] inline std::optional<double> amount(std::string_view text, Form form) {
  static const std::map<std::string, double> sizes{{"B", 1},           {"kB", kib}, {"KiB", kib}, {"MB", kib * kib},
                                                   {"MiB", kib * kib}, {"GB", gib}, {"GiB", gib}};
  static const std::map<std::string, double> durations{{"ns", 1}, {"us", 1e3}, {"ms", ms}, {"s", s}};
  const char* const last = text.data() + text.size();
  if (form == Form::whole_number) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), last, number);
    return error == std::errc{} && end == last ? std::optional<double>(number) : std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{}) return {};
  std::string unit(end, last);
  unit.erase(0, unit.find_first_not_of(' '));
  const auto& units = form == Form::size ? sizes : durations;
  const auto found = units.find(unit);
  return found == units.end() ? std::nullopt : std::optional(number * found->second);
}

[[nodiscard]] inline std::string in_words(double value, Form form) {
  const auto whole = [](double number) { return std::to_string(static_cast<std::int64_t>(number)); };
  if (form == Form::whole_number) return whole(value);
  if (form == Form::size) return value >= gib ? whole(value / gib) + "GiB" : whole(value) + "B";
  return value >= s ? whole(value / s) + "s" : whole(value / 1e3) + "us";
}

/// What a trial's native settings come to. Throws AdapterError for what is unknown, malformed, out of range, given twice,
/// without effect on the transport, or set by a factor of the trial.
class Native {
 public:
  explicit Native(const Settings& settings) {
    for (const auto& [key, value] : settings.native) {
      const std::string path = key.starts_with("Domain/") ? key.substr(7) : key;
      const NativeKey* known = find(path);
      if (known == nullptr && path == key) refuse_unknown(key);
      if (known == nullptr) check_path(key, path, value);
      if (known != nullptr) check_value(*known, key, value, settings.transport);
      if (!values_.emplace(known != nullptr ? known->path : path, value).second) {
        throw AdapterError("Cyclone DDS: native." + key + " is given twice", "with and without 'Domain/'");
      }
    }
    if (values_.contains("flush_after") && !batches()) {
      throw AdapterError("Cyclone DDS: native.flush_after has no effect without batching",
                         "add Internal/WriteBatch = true, or leave it out");
    }
    const double low = number("Internal/Watermarks/WhcLow", Form::size).value_or(kib);
    const double first = number("Internal/Watermarks/WhcHighInit", Form::size).value_or(30 * kib);
    const double high = number("Internal/Watermarks/WhcHigh", Form::size).value_or(500 * kib);
    if (low > first || first > high) {  // Cyclone DDS only says "Invalid watermark settings"
      throw AdapterError("Cyclone DDS: native.Internal/Watermarks: WhcLow " + in_words(low, Form::size) +
                             ", WhcHighInit " + in_words(first, Form::size) + " and WhcHigh " +
                             in_words(high, Form::size) + " do not ascend",
                         "give those that are missing: the defaults are 1kB, 30kB and 500kB");
    }
    const double fragment = number("General/FragmentSize", Form::size).value_or(0);
    if (fragment > max_message_bytes() - packet_overhead_bytes) {
      throw AdapterError("Cyclone DDS: native.General/FragmentSize = '" + values_.at("General/FragmentSize") +
                             "' does not fit into a datagram of " + in_words(max_message_bytes(), Form::size),
                         "at most " + in_words(max_message_bytes() - packet_overhead_bytes, Form::size) +
                             ", or raise General/MaxMessageSize");
    }
  }

  /// Elements by their path below CycloneDDS/Domain.
  [[nodiscard]] std::map<std::string, std::string> elements() const {
    std::map<std::string, std::string> all;
    for (const auto& [path, value] : values_) {
      if (path.find('/') == std::string::npos && find(path) != nullptr) continue;  // the adapter's own
      if (batching_is_a_quality && path == "Internal/WriteBatch") continue;
      const bool socket = path.ends_with("SocketReceiveBufferSize") || path.ends_with("SocketSendBufferSize");
      all[socket ? path + "/@max" : path] = value;
    }
    return all;
  }

  [[nodiscard]] double max_message_bytes() const {
    return number("General/MaxMessageSize", Form::size).value_or(65500);
  }
  /// What fits beside the headers of RTPS.
  [[nodiscard]] double fragment_bytes() const {
    return number("General/FragmentSize", Form::size).value_or(max_message_bytes() - packet_overhead_bytes);
  }
  [[nodiscard]] std::optional<double> receive_buffer_bytes() const {
    return number("Internal/SocketReceiveBufferSize", Form::size);
  }
  [[nodiscard]] bool batches() const {
    const auto found = values_.find("Internal/WriteBatch");
    return found != values_.end() && found->second == "true";
  }
  [[nodiscard]] std::chrono::nanoseconds flush_after() const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(number("flush_after", Form::duration).value_or(1 * ms)));
  }
  [[nodiscard]] std::int64_t latency_budget_ns() const {
    return static_cast<std::int64_t>(number("latency_budget", Form::duration).value_or(0));
  }
  [[nodiscard]] std::int32_t transport_priority() const {
    return static_cast<std::int32_t>(number("transport_priority", Form::whole_number).value_or(0));
  }

 private:
  static constexpr double packet_overhead_bytes = 500;

  [[nodiscard]] static const NativeKey* find(const std::string& path) {
    const auto* known = std::ranges::find_if(
        native_keys, [wanted = lower(path)](const NativeKey& key) { return lower(key.path) == wanted; });
    return known == std::end(native_keys) ? nullptr : known;
  }

  [[nodiscard]] std::optional<double> number(const std::string& path, Form form) const {
    const auto found = values_.find(path);
    return found == values_.end() ? std::nullopt : amount(found->second, form);
  }

  [[noreturn]] static void refuse_unknown(const std::string& key) {
    std::string accepted;
    for (const NativeKey& known : native_keys) accepted.append(known.path).append(", ");
    throw AdapterError("Cyclone DDS: native." + key + " is not a setting that can be set",
                       "one of " + accepted + "or any path of Cyclone DDS's configuration as Domain/" + key);
  }

  /// Elements of the configuration that are a factor of the trial, or would undo one.
  static void check_path(const std::string& key, const std::string& path, const std::string& value) {
    static const std::map<std::string, const char*> factors{
        {"@id", "domain"},
        {"discovery/externaldomainid", "domain"},
        {"general/interfaces", "interface"},
        {"general/networkinterfaceaddress", "interface"},
        {"general/transport", "transport"},
        {"tcp/enable", "transport"},
        {"ssl/enable", "transport"},
        {"sharedmemory", "transport"},
    };
    if (!std::regex_match(path, std::regex("([A-Za-z0-9]+(/[A-Za-z0-9]+)*/)?@?[A-Za-z0-9_]+"))) {
      throw AdapterError("Cyclone DDS: native." + key + " is not a path of elements",
                         "as Domain/Internal/HeartbeatInterval, or Domain/Internal/HeartbeatInterval/@max");
    }
    std::string wanted = lower(path);
    if (wanted.starts_with("unsupported/")) {
      throw AdapterError("Cyclone DDS: native." + key + ": 'Unsupported' is an old name", "write Domain/Internal/…");
    }
    for (const auto& [taken, factor] : factors) {
      if (wanted != taken && !wanted.starts_with(taken + "/")) continue;
      throw AdapterError("Cyclone DDS: native." + key + " is set by the factor '" + factor + "'",
                         std::string("choose it with ") + factor);
    }
    if (std::ranges::any_of(value, [](unsigned char c) { return std::iscntrl(c) != 0; })) {
      throw AdapterError("Cyclone DDS: native." + key + ": control characters cannot stand in XML");
    }
  }

  static void check_value(const NativeKey& known, const std::string& key, const std::string& value,
                          const std::string& transport) {
    if (known.reach == Reach::network && transport != "udp") {
      throw AdapterError("Cyclone DDS: native." + key + " has no effect on the transport " + transport,
                         "leave it out there, or choose udp");
    }
    if (*known.words != '\0' && std::regex_match(value, std::regex(known.words))) return;
    const std::string name = "Cyclone DDS: native." + key + " = '" + value + "' is not ";
    const std::string or_word = *known.words == '\0' ? "" : std::string(", or ") + known.words;
    if (known.form == Form::word) throw AdapterError(name + "one of " + known.words);
    static const std::map<Form, const char*> kinds{
        {Form::size, "a size"}, {Form::duration, "a duration"}, {Form::whole_number, "a whole number"}};
    const std::optional<double> given = amount(value, known.form);
    if (given && *given >= known.least && *given <= known.most) return;
    throw AdapterError(name + kinds.at(known.form) + " from " + in_words(known.least, known.form) + " to " +
                           in_words(known.most, known.form) + or_word,
                       known.form == Form::size       ? "sizes are written 65000B, 512kB or 4MiB"
                       : known.form == Form::duration ? "durations are written 10us, 5ms or 1s"
                                                      : "");
  }

  std::map<std::string, std::string> values_;
};

}  // namespace middlemark::cyclonedds
