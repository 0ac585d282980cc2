// Written by scripts/protocol from src/middlemark/model/description.py: change that.
// The description of an adapter, and how it stands in JSON: docs/protocol.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <middlemark/protocol.hpp>

// clang-format off
namespace middlemark {

/// The transport that sets nothing but what keeps a trial apart from others and on its network interface: the middleware as
/// a user gets it who configures nothing. It is described last, and measured only where it is named.
inline constexpr const char* as_it_comes = "default";

/// Files of a set of certificates (docs/security.md): an authority's certificate with one and a key for each identity;
/// governance and permissions of DDS Security beside them; or key pairs of CURVE.
enum class Credential { x509, dds, curve };
template <>
inline constexpr std::array<std::string_view, 3> words_of<Credential>{"x509", "dds", "curve"};

/// How the text of a native setting is read. `boolean`: true or false (also 1 and 0, on and off). `integer`: a whole number.
/// `bytes`: a whole number, or one with a unit (64KiB). `duration`: a number with a unit (1.5ms). `choice`: one of a few
/// words. `text`: anything; the adapter looks at it. `file`: the absolute path of a file of the user's, whose bytes are part
/// of what is measured.
enum class NativeType { boolean, integer, bytes, duration, choice, text, file };
template <>
inline constexpr std::array<std::string_view, 7> words_of<NativeType>{"boolean", "integer", "bytes", "duration", "choice", "text", "file"};

/// What one transport of an adapter can carry. What is not listed is refused before anything runs.
struct Transport {
  /// `udp`, `shm`: unique within the adapter. `default`: the middleware's default configuration.
  std::string name{};
  /// What must be seen to move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`. `any`:
  /// the middleware chooses, and what is seen is told.
  std::string carrier{};
  /// Shared memory: globs of file names under /dev/shm, one of which must be mapped. Of System V: `SYSV*`.
  std::vector<std::string> segments{};
  /// 1: both roles in one process; 2: each role in its own.
  std::vector<int> processes{1, 2};
  std::vector<Reception> receive{Reception::poll, Reception::block, Reception::listen};
  std::vector<Reliability> reliability{Reliability::reliable, Reliability::best_effort};
  /// false: the adapter's memory is sent; true: memory that the middleware lends is.
  std::vector<bool> loan{false};
  /// The levels of `loan` at which a receiver is given a pointer or the index of a chunk, and nothing copies the bytes;
  /// empty: it always copies. Left out by workers that are older than this field.
  std::vector<bool> hands_over{};
  /// The largest message.
  std::size_t max_bytes = 67108864;
  /// How to lift `max_bytes`; empty: it cannot be lifted.
  std::string max_bytes_advice{};
  /// The deepest history; null: no bound.
  std::optional<std::uint32_t> max_depth{};
  /// Keep-all history can be honoured.
  bool keep_all = true;
  /// A daemon is needed: the adapter is asked for its `companions`.
  bool companions = false;
  /// It listens on every interface: a trial on this machine has a network of its own, with lo alone.
  bool own_network = false;
  /// Nobody else takes part: a ping without pongs, which takes back what it has published.
  bool alone = false;
  /// What must be seen to move best effort, where that is not `carrier`; a native service is not meant.
  std::string best_effort_carrier{};
  /// Types of messages that it carries, octets first.
  std::vector<MessageType> types{MessageType::octets};
  /// Messages of a topic may be shorter than its largest.
  bool varying_sizes = false;
  /// Services of a graph are carried by request and reply of the middleware's own.
  bool services = false;
  /// Messages of a transient-local topic that a subscriber can get which joins late; 0: volatile only; null: no bound.
  std::optional<std::uint32_t> max_history = 0;
  /// The levels that it has; `protected_by()` of the adapter says what protects them.
  std::vector<Security> security{Security::none};
  /// Why it has no others; empty: nothing is to be said of it.
  std::string security_why{};
  /// At those levels its peers give nothing to who is of the authority and has no permission: `intruder`.
  bool permissions = false;
};
template <>
inline constexpr auto fields_of<Transport> = std::tuple{
    Field{"name", &Transport::name, Presence::required, {.least_items = 1}},
    Field{"carrier", &Transport::carrier, Presence::required},
    Field{"segments", &Transport::segments, Presence::optional},
    Field{"processes", &Transport::processes, Presence::optional, {.least = 1, .most = 2, .least_items = 1}},
    Field{"receive", &Transport::receive, Presence::optional, {.least_items = 1}},
    Field{"reliability", &Transport::reliability, Presence::optional, {.least_items = 1}},
    Field{"loan", &Transport::loan, Presence::optional, {.least_items = 1}},
    Field{"hands_over", &Transport::hands_over, Presence::optional},
    Field{"max_bytes", &Transport::max_bytes, Presence::optional, {.least = 16}},
    Field{"max_bytes_advice", &Transport::max_bytes_advice, Presence::optional},
    Field{"max_depth", &Transport::max_depth, Presence::optional, {.least = 1}},
    Field{"keep_all", &Transport::keep_all, Presence::optional},
    Field{"companions", &Transport::companions, Presence::optional},
    Field{"own_network", &Transport::own_network, Presence::optional},
    Field{"alone", &Transport::alone, Presence::optional},
    Field{"best_effort_carrier", &Transport::best_effort_carrier, Presence::optional},
    Field{"types", &Transport::types, Presence::optional, {.least_items = 1}},
    Field{"varying_sizes", &Transport::varying_sizes, Presence::optional},
    Field{"services", &Transport::services, Presence::optional},
    Field{"max_history", &Transport::max_history, Presence::optional},
    Field{"security", &Transport::security, Presence::optional, {.least_items = 1}},
    Field{"security_why", &Transport::security_why, Presence::optional},
    Field{"permissions", &Transport::permissions, Presence::optional}};

/// One of the middleware's own settings. The core refuses what does not fit before the middleware is opened.
struct NativeSetting {
  /// What it does.
  std::string help{};
  /// The lowest number; of a duration in ns.
  std::optional<std::int64_t> least{};
  /// The highest number; of a duration in ns.
  std::optional<std::int64_t> most{};
  /// The words of a choice, in the order of its values; of a number: words that it may be instead.
  std::vector<std::string> choices{};
  /// Those that it has an effect on; none named: all.
  std::vector<std::string> transports{};
  /// Those that it has an effect on; none named: all.
  std::vector<Pattern> patterns{};
  /// The default, in words; empty: the help says it, or there is none.
  std::string otherwise{};
  /// In an adapter's table `text` also stands for the type of the member that holds the value.
  NativeType type = NativeType::text;
  /// What a value must be, in words. The core writes it.
  std::string allowed = "a text";
};
template <>
inline constexpr auto fields_of<NativeSetting> = std::tuple{
    Field{"help", &NativeSetting::help, Presence::required},
    Field{"least", &NativeSetting::least, Presence::optional},
    Field{"most", &NativeSetting::most, Presence::optional},
    Field{"choices", &NativeSetting::choices, Presence::optional},
    Field{"transports", &NativeSetting::transports, Presence::optional},
    Field{"patterns", &NativeSetting::patterns, Presence::optional},
    Field{"default", &NativeSetting::otherwise, Presence::optional},
    Field{"type", &NativeSetting::type, Presence::optional},
    Field{"allowed", &NativeSetting::allowed, Presence::optional}};

/// What an adapter says of itself without opening the middleware.
struct Description {
  int protocol = 1;
  /// The folder's name.
  std::string name{};
  /// As people call it: Eclipse Cyclone DDS.
  std::string title{};
  /// Of the library that is loaded, not of the headers.
  std::string version{};
  /// Path of that library; empty: there is none.
  std::string library{};
  /// SPDX.
  std::string licence{};
  /// It is what the machine can do, not a middleware.
  bool is_raw_transport = false;
  /// It tests the bench itself and is never part of `all`.
  bool bench_only = false;
  /// The first is the default.
  std::vector<Transport> transports{};
  /// It has request and reply of its own. The core writes it: there are `client()` and `server()`.
  bool request_reply = false;
  /// What of a set of certificates its security reads.
  std::vector<Credential> credentials{};
  /// The middleware receives on threads of its own, which need a processor beside a polling role.
  bool own_threads = false;
  /// A `take()` of a subscriber returns after this number of messages, so that the role can look for its stop; the number
  /// is per publisher where each publisher has its own queue. null: `take()` visits what was there when it was called. The
  /// core writes it, from what the subscriber's class states.
  std::optional<std::size_t> most_per_take{};
  /// What a killed worker may leave: absolute globs (`{scope}` is replaced); of System V: `sysv:*`.
  std::vector<std::string> residue{};
  /// Every native setting, by key; one that ends in `*` stands for every key that begins so.
  std::map<std::string, NativeSetting> native{};
};
template <>
inline constexpr auto fields_of<Description> = std::tuple{
    Field{"protocol", &Description::protocol, Presence::required, {.least = 0}},
    Field{"name", &Description::name, Presence::required, {.least_items = 1}},
    Field{"title", &Description::title, Presence::required},
    Field{"version", &Description::version, Presence::required},
    Field{"library", &Description::library, Presence::required},
    Field{"licence", &Description::licence, Presence::required},
    Field{"is_raw_transport", &Description::is_raw_transport, Presence::required},
    Field{"bench_only", &Description::bench_only, Presence::required},
    Field{"transports", &Description::transports, Presence::required, {.least_items = 1}},
    Field{"request_reply", &Description::request_reply, Presence::required},
    Field{"credentials", &Description::credentials, Presence::optional},
    Field{"own_threads", &Description::own_threads, Presence::required},
    Field{"most_per_take", &Description::most_per_take, Presence::optional, {.least = 1}},
    Field{"residue", &Description::residue, Presence::required},
    Field{"native", &Description::native, Presence::required}};

/// A daemon that has to run while workers do.
struct Companion {
  std::string name{};
  std::vector<std::string> argv{};
  /// For the companion and for every worker of the trial.
  std::map<std::string, std::string> environment{};
  /// Regular expression over a line of its stdout or stderr that says it is ready.
  std::string ready_pattern{};
  double ready_timeout_s = 10;
};
template <>
inline constexpr auto fields_of<Companion> = std::tuple{
    Field{"name", &Companion::name, Presence::required},
    Field{"argv", &Companion::argv, Presence::required, {.least_items = 1}},
    Field{"environment", &Companion::environment, Presence::optional},
    Field{"ready_pattern", &Companion::ready_pattern, Presence::optional},
    Field{"ready_timeout_s", &Companion::ready_timeout_s, Presence::optional}};

/// What a transport lists, or has at most, and what is asked for, by the factor's name.
inline constexpr auto capabilities = std::tuple{
    Capability{"size", &Transport::max_bytes, &RequestedSettings::message_bytes},
    Capability{"type", &Transport::types, &RequestedSettings::type},
    Capability{"receive", &Transport::receive, &RequestedSettings::reception},
    Capability{"reliability", &Transport::reliability, &RequestedSettings::reliability},
    Capability{"depth", &Transport::max_depth, &RequestedSettings::depth},
    Capability{"loan", &Transport::loan, &RequestedSettings::loan},
    Capability{"security", &Transport::security, &RequestedSettings::security}};
inline constexpr auto topic_capabilities = std::tuple{
    Capability{"size", &Transport::max_bytes, &TopicRequest::message_bytes},
    Capability{"type", &Transport::types, &TopicRequest::type},
    Capability{"reliability", &Transport::reliability, &TopicRequest::reliability},
    Capability{"depth", &Transport::max_depth, &TopicRequest::depth}};

}  // namespace middlemark
