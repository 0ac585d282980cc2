// Written by scripts/protocol from src/middlemark/model/description.py: change that file instead.
// The description of an adapter, and its JSON form: docs/reference/protocol.md.
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

/// Name of the transport with the middleware's default configuration. The adapter sets only the options that separate the
/// trial from others and keep the trial on its network interface. Descriptions list this transport last. The transport is
/// measured only if a user selects it by name.
inline constexpr const char* default_configuration = "default";

/// Kinds of files in a set of certificates (docs/how-to/security.md). `x509`: an authority's certificate, and a certificate
/// and a key for each identity. `dds`: also the governance and permissions of DDS Security. `curve`: key pairs of CURVE.
enum class Credential { x509, dds, curve };
template <> inline constexpr std::array<std::string_view, 3> words_of<Credential>{"x509", "dds", "curve"};

/// The language of the middleware's interface that an adapter calls.
enum class WrittenIn { cpp, rust, python };
template <> inline constexpr std::array<std::string_view, 3> words_of<WrittenIn>{"C++", "Rust", "Python"};

/// How the text of a native setting is read. `boolean`: true or false (also 1 and 0, on and off). `integer`: a whole number.
/// `bytes`: a number without or with a unit (65536, 64KiB). `duration`: a number with a unit (1.5ms). `choice`: one of a few
/// words. `text`: any text; the adapter checks the text. `file`: the absolute path of a user's file; results record a hash
/// of its content.
enum class NativeType { boolean, integer, bytes, duration, choice, text, file };
template <> inline constexpr std::array<std::string_view, 7> words_of<NativeType>{"boolean", "integer", "bytes", "duration", "choice", "text", "file"};

/// One transport of an adapter with its capabilities. Anything that is not listed is refused before a trial starts.
struct Transport {
  /// Unique within the adapter: `udp`, `shm`. `default`: the middleware's default configuration.
  std::string name{};
  /// How the data must move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`. The
  /// carrier is checked during the trial. `any`: the middleware chooses, and reports show the observed carrier.
  std::string carrier{};
  /// For shared memory: globs of file names under /dev/shm, one of which must be mapped; `SYSV*` for System V.
  std::vector<std::string> segments{};
  /// 1: all roles in one process; 2: each role in a process of its own.
  std::vector<int> processes{1, 2};
  /// Supported patterns.
  std::vector<Pattern> patterns{Pattern::ping_pong, Pattern::stream, Pattern::request_reply};
  /// Why the transport does not support a crowd; empty: the adapter does not offer crowds.
  std::string patterns_why{};
  /// The largest number of participants of a crowd that one process can contain.
  std::size_t participants_per_process = 1;
  /// How peers find each other if the middleware has no discovery of its own; empty: it has one.
  std::string discovery_by{};
  std::vector<Reception> receive{Reception::poll, Reception::block, Reception::listen};
  std::vector<Reliability> reliability{Reliability::reliable, Reliability::best_effort};
  /// false: the adapter's own memory is sent; true: memory that the middleware lends is sent.
  std::vector<bool> loan{false};
  /// The levels of `loan` at which the transport copies no bytes but passes a pointer or the index of a chunk to the
  /// receiver; empty: the transport always copies. null: the worker is older than this field.
  std::vector<bool> hands_over{};
  /// Size of the largest message.
  std::size_t max_bytes = 67108864;
  /// How to raise `max_bytes`; empty: no setting raises `max_bytes`.
  std::string max_bytes_advice{};
  /// Depth of the deepest history; null: no limit.
  std::optional<std::uint32_t> max_depth{};
  /// True if the transport supports a keep-all history.
  bool keep_all = true;
  /// The transport needs daemons, which `companions` of the adapter lists.
  bool companions = false;
  /// The transport listens on every interface, so trials on this machine run in a network namespace with only lo.
  bool own_network = false;
  /// The ping has no pongs and receives the messages that it published itself.
  bool alone = false;
  /// Carrier under best effort, if it differs from `carrier`. Does not apply to a native service.
  std::string best_effort_carrier{};
  /// Supported message types, octets first.
  std::vector<MessageType> types{MessageType::octets};
  /// True if the messages of a topic may have different sizes.
  bool varying_sizes = false;
  /// Services of a workload use the middleware's own request and reply.
  bool services = false;
  /// The largest number of transient-local messages that a subscriber which joins late can receive; 0: volatile only;
  /// null: no limit.
  std::optional<std::uint32_t> max_history = 0;
  /// Supported levels of security. `protected_by()` of the adapter names the algorithms.
  std::vector<Security> security{Security::none};
  /// Why the transport does not support the other levels; empty: no reason is known.
  std::string security_why{};
  /// With security, peers reject an `intruder`: a peer with a certificate of the authority but no permission.
  bool permissions = false;
  /// The possible processes between the peers. `router` alone: every message passes through the middleware's broker.
  std::vector<Via> via{Via::direct};
  /// Why the transport does not support the other levels of `via`; empty: the middleware does not have them.
  std::string via_why{};
  /// Name of the format on the network: `rtps`, `rtps-ros2`. Adapters with one wire exchange octets in a pair. Empty: no
  /// other adapter reads these messages.
  std::string wire{};
};
template <> inline constexpr auto fields_of<Transport> = std::tuple{
    Field{"name", &Transport::name, Presence::required, {.least_items = 1}},
    Field{"carrier", &Transport::carrier, Presence::required}, Field{"segments", &Transport::segments, Presence::optional},
    Field{"processes", &Transport::processes, Presence::optional, {.least = 1, .most = 2, .least_items = 1}},
    Field{"patterns", &Transport::patterns, Presence::optional, {.least_items = 1}},
    Field{"patterns_why", &Transport::patterns_why, Presence::optional},
    Field{"participants_per_process", &Transport::participants_per_process, Presence::optional, {.least = 1}},
    Field{"discovery_by", &Transport::discovery_by, Presence::optional},
    Field{"receive", &Transport::receive, Presence::optional, {.least_items = 1}},
    Field{"reliability", &Transport::reliability, Presence::optional, {.least_items = 1}},
    Field{"loan", &Transport::loan, Presence::optional, {.least_items = 1}},
    Field{"hands_over", &Transport::hands_over, Presence::optional},
    Field{"max_bytes", &Transport::max_bytes, Presence::optional, {.least = 16}},
    Field{"max_bytes_advice", &Transport::max_bytes_advice, Presence::optional},
    Field{"max_depth", &Transport::max_depth, Presence::optional, {.least = 1}},
    Field{"keep_all", &Transport::keep_all, Presence::optional},
    Field{"companions", &Transport::companions, Presence::optional},
    Field{"own_network", &Transport::own_network, Presence::optional}, Field{"alone", &Transport::alone, Presence::optional},
    Field{"best_effort_carrier", &Transport::best_effort_carrier, Presence::optional},
    Field{"types", &Transport::types, Presence::optional, {.least_items = 1}},
    Field{"varying_sizes", &Transport::varying_sizes, Presence::optional},
    Field{"services", &Transport::services, Presence::optional},
    Field{"max_history", &Transport::max_history, Presence::optional},
    Field{"security", &Transport::security, Presence::optional, {.least_items = 1}},
    Field{"security_why", &Transport::security_why, Presence::optional},
    Field{"permissions", &Transport::permissions, Presence::optional},
    Field{"via", &Transport::via, Presence::optional, {.least_items = 1}},
    Field{"via_why", &Transport::via_why, Presence::optional}, Field{"wire", &Transport::wire, Presence::optional}};

/// One of the middleware's own settings. The core refuses an invalid value before the middleware is opened.
struct NativeSetting {
  /// Effect of the setting.
  std::string help{};
  /// The lowest number; in ns for a duration.
  std::optional<std::int64_t> least{};
  /// The highest number; in ns for a duration.
  std::optional<std::int64_t> most{};
  /// For a choice: the words, in the order of the values. For a number: words that are allowed instead of a number.
  std::vector<std::string> choices{};
  /// The transports that the setting affects; empty: all transports.
  std::vector<std::string> transports{};
  /// The patterns that the setting affects; empty: all patterns.
  std::vector<Pattern> patterns{};
  /// The default in words; empty: the help names the default, or there is no default.
  std::string otherwise{};
  /// In an adapter's source, `text` (the default) means that the type follows from the type of the C++ member.
  NativeType type = NativeType::text;
  /// The allowed values in words. The core sets this field.
  std::string allowed = "a text";
};
template <> inline constexpr auto fields_of<NativeSetting> = std::tuple{
    Field{"help", &NativeSetting::help, Presence::required}, Field{"least", &NativeSetting::least, Presence::optional},
    Field{"most", &NativeSetting::most, Presence::optional}, Field{"choices", &NativeSetting::choices, Presence::optional},
    Field{"transports", &NativeSetting::transports, Presence::optional},
    Field{"patterns", &NativeSetting::patterns, Presence::optional},
    Field{"default", &NativeSetting::otherwise, Presence::optional}, Field{"type", &NativeSetting::type, Presence::optional},
    Field{"allowed", &NativeSetting::allowed, Presence::optional}};

/// The description of an adapter, which its worker prints without opening the middleware.
struct Description {
  int protocol = 1;
  /// Name of the adapter's folder.
  std::string name{};
  /// Full name: Eclipse Cyclone DDS.
  std::string title{};
  /// Version of the loaded library, not of the headers.
  std::string version{};
  /// Path of the loaded library; empty: no library.
  std::string library{};
  /// SPDX identifier.
  std::string licence{};
  /// The language of the middleware's interface that is measured. Kits for other languages than C++ set it.
  WrittenIn language = WrittenIn::cpp;
  /// Name of the adapter that measures the same middleware in the language of its library: `zeromq` for `pyzmq`. Empty:
  /// the adapter is not such a client.
  std::string client_of{};
  /// Name and version of the library that moves a client's messages: `libzmq 4.3.5`. Empty: the file name of `library`, or
  /// else `name`, and `version`.
  std::string implementation{};
  /// true: a raw transport, which serves as baseline; false: a middleware.
  bool is_raw_transport = false;
  /// The adapter is for tests of the bench itself and is never part of `all`.
  bool bench_only = false;
  /// The transports. The first transport is used if the user names no transport.
  std::vector<Transport> transports{};
  /// True if the middleware has its own request and reply. The core sets this field: true if the adapter has `client()`
  /// and `server()`.
  bool request_reply = false;
  /// The kinds of certificate files that the adapter reads.
  std::vector<Credential> credentials{};
  /// True if the middleware receives on its own threads. They need a processor on which no role polls.
  bool own_threads = false;
  /// A `take()` returns after this number of messages, so that the role can check for the stop. If each publisher has its
  /// own queue, the number is per publisher. null: `take()` visits all messages that had arrived at the call. The core
  /// sets this field from the subscriber's class.
  std::optional<std::size_t> most_per_take{};
  /// Files that a killed worker may leave: absolute globs (`{scope}` is replaced); for System V: `sysv:*`.
  std::vector<std::string> residue{};
  /// Every native setting by key; a key that ends in `*` matches every key with the same beginning.
  std::map<std::string, NativeSetting> native{};
};
template <> inline constexpr auto fields_of<Description> = std::tuple{
    Field{"protocol", &Description::protocol, Presence::required, {.least = 0}},
    Field{"name", &Description::name, Presence::required, {.least_items = 1}},
    Field{"title", &Description::title, Presence::required}, Field{"version", &Description::version, Presence::required},
    Field{"library", &Description::library, Presence::required}, Field{"licence", &Description::licence, Presence::required},
    Field{"language", &Description::language, Presence::optional},
    Field{"client_of", &Description::client_of, Presence::optional},
    Field{"implementation", &Description::implementation, Presence::optional},
    Field{"is_raw_transport", &Description::is_raw_transport, Presence::required},
    Field{"bench_only", &Description::bench_only, Presence::required},
    Field{"transports", &Description::transports, Presence::required, {.least_items = 1}},
    Field{"request_reply", &Description::request_reply, Presence::required},
    Field{"credentials", &Description::credentials, Presence::optional},
    Field{"own_threads", &Description::own_threads, Presence::required},
    Field{"most_per_take", &Description::most_per_take, Presence::optional, {.least = 1}},
    Field{"residue", &Description::residue, Presence::required}, Field{"native", &Description::native, Presence::required}};

/// A daemon that must run while the workers run.
struct Companion {
  std::string name{};
  std::vector<std::string> argv{};
  /// Variables for the companion and for every worker of the trial.
  std::map<std::string, std::string> environment{};
  /// Regular expression for the line that the daemon prints on stdout or stderr when it is ready.
  std::string ready_pattern{};
  double ready_timeout_s = 10;
};
template <> inline constexpr auto fields_of<Companion> = std::tuple{
    Field{"name", &Companion::name, Presence::required},
    Field{"argv", &Companion::argv, Presence::required, {.least_items = 1}},
    Field{"environment", &Companion::environment, Presence::optional},
    Field{"ready_pattern", &Companion::ready_pattern, Presence::optional},
    Field{"ready_timeout_s", &Companion::ready_timeout_s, Presence::optional}};

/// A transport's capabilities (levels or maxima) and the requested values, by the factor's name.
inline constexpr auto capabilities = std::tuple{
    Capability{"pattern", &Transport::patterns, &RequestedSettings::pattern},
    Capability{"size", &Transport::max_bytes, &RequestedSettings::message_bytes},
    Capability{"type", &Transport::types, &RequestedSettings::type},
    Capability{"receive", &Transport::receive, &RequestedSettings::reception},
    Capability{"reliability", &Transport::reliability, &RequestedSettings::reliability},
    Capability{"depth", &Transport::max_depth, &RequestedSettings::depth},
    Capability{"loan", &Transport::loan, &RequestedSettings::loan},
    Capability{"security", &Transport::security, &RequestedSettings::security},
    Capability{"via", &Transport::via, &RequestedSettings::via},
    Capability{"participants_per_process", &Transport::participants_per_process, &RequestedSettings::participants_per_process}};
inline constexpr auto topic_capabilities = std::tuple{
    Capability{"size", &Transport::max_bytes, &TopicRequest::message_bytes},
    Capability{"type", &Transport::types, &TopicRequest::type},
    Capability{"reliability", &Transport::reliability, &TopicRequest::reliability},
    Capability{"depth", &Transport::max_depth, &TopicRequest::depth}};

}  // namespace middlemark
