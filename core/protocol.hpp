// Written by scripts/protocol from src/middlemark/model/protocol.py: change that.
// The messages of the control protocol and their JSON form: docs/protocol.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <middlemark/schema.hpp>

// clang-format off
namespace middlemark {

/// Of the control protocol and of the description; raised when either changes incompatibly.
inline constexpr int protocol_version = 1;

enum class Pattern { ping_pong, stream, request_reply };
template <>
inline constexpr std::array<std::string_view, 3> words_of<Pattern>{"ping-pong", "stream", "request-reply"};

enum class Reliability { reliable, best_effort };
template <>
inline constexpr std::array<std::string_view, 2> words_of<Reliability>{"reliable", "best-effort"};

enum class Reception { poll, block, listen };
template <>
inline constexpr std::array<std::string_view, 3> words_of<Reception>{"poll", "block", "listen"};

enum class Payload { filled, untouched };
template <>
inline constexpr std::array<std::string_view, 2> words_of<Payload>{"filled", "untouched"};

/// What a message is: its bytes alone, or one of ROS's common messages, which is serialised and deserialised.
enum class MessageType { octets, image, point_cloud, imu, tf };
template <>
inline constexpr std::array<std::string_view, 5> words_of<MessageType>{"octets", "image", "point-cloud", "imu", "tf"};

/// What protects the messages: nothing; the peers have proved who they are; what they send cannot be changed unseen either;
/// nobody else can read it either. Each level has those before it.
enum class Security { none, authenticated, signed_, encrypted };
template <>
inline constexpr std::array<std::string_view, 4> words_of<Security>{"none", "authenticated", "signed", "encrypted"};

/// Whose certificate and key a process has: docs/security.md. `intruder`: valid and without permission; `stranger`: another
/// authority's.
enum class Identity { sender, receiver, broker, intruder, stranger };
template <>
inline constexpr std::array<std::string_view, 5> words_of<Identity>{"sender", "receiver", "broker", "intruder", "stranger"};

enum class LoadKind { max, rate, burst };
template <>
inline constexpr std::array<std::string_view, 3> words_of<LoadKind>{"max", "rate", "burst"};

enum class Arrivals { periodic, poisson };
template <>
inline constexpr std::array<std::string_view, 2> words_of<Arrivals>{"periodic", "poisson"};

enum class Policy { other, fifo, rr };
template <>
inline constexpr std::array<std::string_view, 3> words_of<Policy>{"other", "fifo", "rr"};

enum class RoleKind { ping, pong, publisher, subscriber, client, server };
template <>
inline constexpr std::array<std::string_view, 6> words_of<RoleKind>{"ping", "pong", "publisher", "subscriber", "client", "server"};

enum class Phase { waiting, warm_up, measuring, echoing, ended };
template <>
inline constexpr std::array<std::string_view, 5> words_of<Phase>{"waiting", "warm-up", "measuring", "echoing", "ended"};

enum class ErrorCode { refused, unmatched, silent, hung, disk, configure, internal };
template <>
inline constexpr std::array<std::string_view, 7> words_of<ErrorCode>{"refused", "unmatched", "silent", "hung", "disk", "configure", "internal"};

/// What the kernel lets be seen. `processors`: every switch on a processor, and between whom, which needs
/// perf_event_paranoid <= 0 or CAP_PERFMON. `workers`: when a worker's thread was pushed off, and until when, not by whom.
enum class WatchScope { processors, workers };
template <>
inline constexpr std::array<std::string_view, 2> words_of<WatchScope>{"processors", "workers"};

/// Why a role ended. `samples` and `duration`: it has what was asked for. `full`: the memory for samples is. `limit`: its
/// `limit_s`, or a receiver's 10 s, came first. `stopped`: it was told to. `silent`: nobody answered any more, or took what
/// was sent. `complete`: a receiver has all it could expect; `quiet`: nothing comes any more.
enum class Ended { samples, duration, full, limit, stopped, silent, complete, quiet };
template <>
inline constexpr std::array<std::string_view, 8> words_of<Ended>{"samples", "duration", "full", "limit", "stopped", "silent", "complete", "quiet"};

/// One topic of a stream.
struct TopicRequest {
  /// Size of every message, the core's header included.
  std::size_t message_bytes = 16;
  /// By their `index`.
  std::vector<unsigned> publishers{};
  /// Likewise.
  std::vector<unsigned> subscribers{};
  Reliability reliability{};
  /// Keep-last history depth in messages; null is keep-all.
  std::optional<std::uint32_t> depth = 1;
  /// `message_bytes` are then those of its main array.
  MessageType type = MessageType::octets;
  /// Absolute; a uint32 in host order for each message in turn, repeated: its bytes, at most `message_bytes`. Empty: each
  /// has `message_bytes`.
  std::string sizes_path{};
  /// Transient-local, with one publisher: so many messages a subscriber must receive that joins late, and all of this
  /// topic's do. 0: volatile.
  std::uint32_t history = 0;
  /// The subscribers are in so many processes: some middlewares have one connection with each. 0: each in its own.
  unsigned subscriber_processes = 0;
  /// The number of another topic with one subscriber, which forwards to this one and nothing else: the two are the
  /// requests and the replies of a service of the middleware's own. null: they are not.
  std::optional<unsigned> replies_to{};
};
template <>
inline constexpr auto fields_of<TopicRequest> = std::tuple{
    Field{"message_bytes", &TopicRequest::message_bytes, Presence::required, {.least = 16}},
    Field{"publishers", &TopicRequest::publishers, Presence::required, {.least_items = 1}},
    Field{"subscribers", &TopicRequest::subscribers, Presence::required, {.least_items = 1}},
    Field{"reliability", &TopicRequest::reliability, Presence::required},
    Field{"depth", &TopicRequest::depth, Presence::required, {.least = 1}},
    Field{"type", &TopicRequest::type, Presence::optional},
    Field{"sizes_path", &TopicRequest::sizes_path, Presence::optional},
    Field{"history", &TopicRequest::history, Presence::optional},
    Field{"subscriber_processes", &TopicRequest::subscriber_processes, Presence::optional, {.most = 65536}},
    Field{"replies_to", &TopicRequest::replies_to, Presence::optional}};

/// One trial's request. Frozen: an adapter reads it once, when it opens.
struct RequestedSettings {
  Pattern pattern{};
  /// One of the names in `Description.transports`.
  std::string transport{};
  /// Of a stream whose topics differ: reliable where any of them is.
  Reliability reliability{};
  /// How the roles will receive; some middlewares must know when they open.
  Reception reception = Reception::block;
  /// Keep-last history depth in messages; null is keep-all. Of a stream whose topics differ the deepest of them.
  std::optional<std::uint32_t> depth = 1;
  /// Write into the middleware's own memory instead of the adapter's.
  bool loan = false;
  /// All roles of the trial live in this process.
  bool one_process = false;
  /// Size of every message, the core's header included. Of a stream whose topics differ the largest of them.
  std::size_t message_bytes = 16;
  /// Of every message; of a stream whose topics differ each has its own.
  MessageType type = MessageType::octets;
  /// Publishers of a stream, clients of request/reply; 1 under ping-pong. More would not fit the header.
  unsigned publishers = 1;
  /// Of a stream; pongs of a ping-pong (0: the ping is alone); 1, the server, under request/reply.
  unsigned subscribers = 1;
  /// Of a stream, and of nothing else.
  std::vector<TopicRequest> topics{};
  /// Processes of the trial that open the middleware.
  unsigned workers = 2;
  /// A DDS domain, or anything else that separates trials.
  int domain = 0;
  /// Unique for the trial, [a-z0-9_]+: every name of topic, segment or port file begins with it.
  std::string scope{};
  /// Absolute path of a folder of the trial's own, shared by its workers, removed afterwards.
  std::string scratch{};
  /// Network interface the traffic keeps to.
  std::string interface = "lo";
  /// The longest a publish() may block.
  std::chrono::nanoseconds write_timeout{1000000000};
  /// The level asked for, no less and no more.
  Security security = Security::none;
  /// Absolute path of the set of certificates and keys: docs/security.md. Empty at `none`.
  std::string certs{};
  /// Of the set: this process's.
  Identity identity = Identity::sender;
  /// The middleware's own settings; an unknown key must be refused by throwing.
  std::map<std::string, std::string> native{};
};
template <>
inline constexpr auto fields_of<RequestedSettings> = std::tuple{
    Field{"pattern", &RequestedSettings::pattern, Presence::required},
    Field{"transport", &RequestedSettings::transport, Presence::required},
    Field{"reliability", &RequestedSettings::reliability, Presence::required},
    Field{"reception", &RequestedSettings::reception, Presence::required},
    Field{"depth", &RequestedSettings::depth, Presence::required, {.least = 1}},
    Field{"loan", &RequestedSettings::loan, Presence::required},
    Field{"one_process", &RequestedSettings::one_process, Presence::required},
    Field{"message_bytes", &RequestedSettings::message_bytes, Presence::required, {.least = 16}},
    Field{"type", &RequestedSettings::type, Presence::optional},
    Field{"publishers", &RequestedSettings::publishers, Presence::required, {.least = 1, .most = 65536}},
    Field{"subscribers", &RequestedSettings::subscribers, Presence::required},
    Field{"topics", &RequestedSettings::topics, Presence::optional},
    Field{"workers", &RequestedSettings::workers, Presence::required, {.least = 1}},
    Field{"domain", &RequestedSettings::domain, Presence::required, {.least = 0, .most = 232}},
    Field{"scope", &RequestedSettings::scope, Presence::required},
    Field{"scratch", &RequestedSettings::scratch, Presence::required},
    Field{"interface", &RequestedSettings::interface, Presence::optional},
    Field{"write_timeout_s", &RequestedSettings::write_timeout, Presence::optional, {.above = 0, .most = 1e+09}},
    Field{"security", &RequestedSettings::security, Presence::optional},
    Field{"certs", &RequestedSettings::certs, Presence::optional},
    Field{"identity", &RequestedSettings::identity, Presence::optional},
    Field{"native", &RequestedSettings::native, Presence::optional}};

/// Where a worker's threads run: asked for.
struct Placement {
  /// Processors of the whole process; none: its affinity stays as it is.
  std::vector<int> cpus{};
  Policy policy{};
  /// 1..99 under fifo and rr.
  int priority = 0;
  /// mlockall(MCL_CURRENT | MCL_FUTURE).
  bool mlock = false;
  /// RLIMIT_RTTIME: processor seconds that a real-time thread may spend without blocking.
  double rt_limit_s = 30;
};
template <>
inline constexpr auto fields_of<Placement> = std::tuple{
    Field{"cpus", &Placement::cpus, Presence::required, {.least = 0}},
    Field{"policy", &Placement::policy, Presence::required},
    Field{"priority", &Placement::priority, Presence::required, {.least = 0, .most = 99}},
    Field{"mlock", &Placement::mlock, Presence::required},
    Field{"rt_limit_s", &Placement::rt_limit_s, Presence::optional, {.above = 0, .most = 1e+09}}};

/// The load a sender offers: as fast as possible, at a rate, or in bursts.
struct Load {
  LoadKind kind = LoadKind::max;
  /// rate: messages a second; open loop, the instants are those of an absolute schedule.
  double rate_hz = 0;
  /// rate: how the instants lie.
  Arrivals arrivals = Arrivals::periodic;
  /// poisson: of the arrivals; two senders of one trial want different ones.
  std::uint64_t seed = 0;
  /// burst: messages sent back to back.
  std::uint64_t burst = 0;
  /// burst: pause between the end of one burst and the next.
  double recovery_s = 0;
  /// rate: absolute; a uint64 in host order for each message, ascending: its instant in ns from the start. Repeated every
  /// `lap_ns`, which is above the last; `rate_hz` is their mean. Empty: `arrivals` says how they lie.
  std::string instants_path{};
  std::uint64_t lap_ns = 0;
  /// The sender sleeps until the instant, as an application's timer does; else it wakes up before and spins.
  bool sleeps = false;
};
template <>
inline constexpr auto fields_of<Load> = std::tuple{
    Field{"kind", &Load::kind, Presence::optional},
    Field{"rate_hz", &Load::rate_hz, Presence::optional, {.least = 1e-06, .most = 1e+09}},
    Field{"arrivals", &Load::arrivals, Presence::optional},
    Field{"seed", &Load::seed, Presence::optional},
    Field{"burst", &Load::burst, Presence::optional, {.least = 1}},
    Field{"recovery_s", &Load::recovery_s, Presence::optional, {.least = 0, .most = 1e+09}},
    Field{"instants_path", &Load::instants_path, Presence::optional},
    Field{"lap_ns", &Load::lap_ns, Presence::optional},
    Field{"sleeps", &Load::sleeps, Presence::optional}};

/// What is asked of any role. Frozen while the role runs.
struct RoleRequest {
  /// Among its like; a ping is number 0.
  unsigned index = 0;
  /// filled: every byte is written and checked; untouched: only the header is.
  Payload payload{};
  /// Its thread is pinned to this one; null: it is not.
  std::optional<int> cpu{};
};
template <>
inline constexpr auto fields_of<RoleRequest> = std::tuple{
    Field{"index", &RoleRequest::index, Presence::required},
    Field{"payload", &RoleRequest::payload, Presence::required},
    Field{"cpu", &RoleRequest::cpu, Presence::optional, {.least = 0}}};

/// How long any sender goes on. Exactly one of `samples` and `duration_s` is set.
struct SenderRequest : RoleRequest {
  Load load{};
  /// Messages to send.
  std::optional<std::uint64_t> samples{};
  std::optional<double> duration_s{};
  double warmup_s = 0.2;
  /// The measuring ends here whatever happens.
  double limit_s = 120;
  /// Absolute; the .npy is written after the end.
  std::string samples_path{};
};
template <>
inline constexpr auto fields_of<SenderRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"load", &SenderRequest::load, Presence::optional},
    Field{"samples", &SenderRequest::samples, Presence::required},
    Field{"duration_s", &SenderRequest::duration_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"warmup_s", &SenderRequest::warmup_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"limit_s", &SenderRequest::limit_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"samples_path", &SenderRequest::samples_path, Presence::required}});

/// Of a ping, and of a client, which is a ping that is answered by one server.
struct CallerRequest : SenderRequest {
  /// A reply later than this is no sample.
  double reply_timeout_s = 1;
  /// Replies that end a round trip: those of all pongs that echo; of a client the server's one.
  unsigned echoing = 1;
};
template <>
inline constexpr auto fields_of<CallerRequest> = std::tuple_cat(fields_of<SenderRequest>, std::tuple{
    Field{"reply_timeout_s", &CallerRequest::reply_timeout_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"echoing", &CallerRequest::echoing, Presence::required, {.least = 1}}});

/// The ping.
struct PingRequest : CallerRequest {
  static constexpr std::string_view tag_field = "role", tag = "ping";
};
template <>
inline constexpr auto fields_of<PingRequest> = fields_of<CallerRequest>;

/// A client of request/reply.
struct ClientRequest : CallerRequest {
  static constexpr std::string_view tag_field = "role", tag = "client";
};
template <>
inline constexpr auto fields_of<ClientRequest> = fields_of<CallerRequest>;

/// Of a pong, and of a server, which answers several clients. With a `samples_path` it stamps some of the messages it
/// answers; `samples` or `duration_s`, where known, spread what it keeps over all of the measuring.
struct AnswererRequest : RoleRequest {
  /// Absolute; the .npy of what was stamped is written after the end. Empty: nothing is stamped.
  std::string samples_path{};
  /// Messages that will come, all senders together.
  std::optional<std::uint64_t> samples{};
  std::optional<double> duration_s{};
};
template <>
inline constexpr auto fields_of<AnswererRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"samples_path", &AnswererRequest::samples_path, Presence::optional},
    Field{"samples", &AnswererRequest::samples, Presence::optional},
    Field{"duration_s", &AnswererRequest::duration_s, Presence::optional, {.above = 0, .most = 1e+09}}});

/// A pong.
struct PongRequest : AnswererRequest {
  static constexpr std::string_view tag_field = "role", tag = "pong";
  /// It replies; one that does not only receives.
  bool echoes = true;
  /// Pongs of the trial that reply.
  unsigned echoing = 1;
};
template <>
inline constexpr auto fields_of<PongRequest> = std::tuple_cat(fields_of<AnswererRequest>, std::tuple{
    Field{"echoes", &PongRequest::echoes, Presence::required},
    Field{"echoing", &PongRequest::echoing, Presence::required, {.least = 1}}});

/// The server of request/reply.
struct ServerRequest : AnswererRequest {
  static constexpr std::string_view tag_field = "role", tag = "server";
};
template <>
inline constexpr auto fields_of<ServerRequest> = fields_of<AnswererRequest>;

/// A publisher of a stream.
struct PublisherRequest : SenderRequest {
  static constexpr std::string_view tag_field = "role", tag = "publisher";
  /// Its number in `Settings.topics`.
  unsigned topic = 0;
  /// Records kept raw; a histogram takes those beyond.
  std::uint64_t kept = 0;
};
template <>
inline constexpr auto fields_of<PublisherRequest> = std::tuple_cat(fields_of<SenderRequest>, std::tuple{
    Field{"topic", &PublisherRequest::topic, Presence::required},
    Field{"kept", &PublisherRequest::kept, Presence::required}});

/// What a subscriber publishes of each message that it receives: one step of a chain. It has a publisher's result. Its
/// record n is of the n-th message received; that message's intended instant is when the other was received, and `work_s`
/// later.
struct ForwardRequest {
  /// Among the publishers of the trial.
  unsigned index = 0;
  /// Its number in `Settings.topics`.
  unsigned topic = 0;
  /// Processor time that is taken first.
  double work_s = 0;
  /// Absolute; the .npy is written after the end.
  std::string samples_path{};
  /// Records kept raw; a histogram takes those beyond.
  std::uint64_t kept = 0;
};
template <>
inline constexpr auto fields_of<ForwardRequest> = std::tuple{
    Field{"index", &ForwardRequest::index, Presence::required},
    Field{"topic", &ForwardRequest::topic, Presence::required},
    Field{"work_s", &ForwardRequest::work_s, Presence::optional, {.least = 0, .most = 1e+09}},
    Field{"samples_path", &ForwardRequest::samples_path, Presence::required},
    Field{"kept", &ForwardRequest::kept, Presence::required}};

/// A subscriber of a stream.
struct SubscriberRequest : RoleRequest {
  static constexpr std::string_view tag_field = "role", tag = "subscriber";
  /// Its number in `Settings.topics`.
  unsigned topic = 0;
  /// Absolute; the .npy is written after the end.
  std::string samples_path{};
  /// Records kept raw; a histogram takes those beyond.
  std::uint64_t kept = 0;
  /// What it publishes of each message that it receives.
  std::vector<ForwardRequest> forwards{};
};
template <>
inline constexpr auto fields_of<SubscriberRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"topic", &SubscriberRequest::topic, Presence::required},
    Field{"samples_path", &SubscriberRequest::samples_path, Presence::required},
    Field{"kept", &SubscriberRequest::kept, Presence::required},
    Field{"forwards", &SubscriberRequest::forwards, Presence::optional}});

using AnyRoleRequest = std::variant<PingRequest, PongRequest, PublisherRequest, SubscriberRequest, ClientRequest, ServerRequest>;

/// One worker's whole task.
struct ConfigureCommand {
  static constexpr std::string_view tag_field = "command", tag = "configure";
  RequestedSettings settings{};
  Placement placement{};
  /// Every role must have found its peers within this.
  double match_timeout_s = 10;
  /// Of a stream: the end of each role is told at once (`ended`), and a subscriber ends only when it is told to.
  bool tells_ends = false;
  std::vector<AnyRoleRequest> roles{};
};
template <>
inline constexpr auto fields_of<ConfigureCommand> = std::tuple{
    Field{"settings", &ConfigureCommand::settings, Presence::required},
    Field{"placement", &ConfigureCommand::placement, Presence::required},
    Field{"match_timeout_s", &ConfigureCommand::match_timeout_s, Presence::optional, {.above = 0, .most = 1e+09}},
    Field{"tells_ends", &ConfigureCommand::tells_ends, Presence::optional},
    Field{"roles", &ConfigureCommand::roles, Presence::required, {.least_items = 1}}};

/// All histories are published: the subscribers of transient-local topics open their ends.
struct JoinCommand {
  static constexpr std::string_view tag_field = "command", tag = "join";
};
template <>
inline constexpr auto fields_of<JoinCommand> = std::tuple<>{};

/// The roles begin.
struct StartCommand {
  static constexpr std::string_view tag_field = "command", tag = "start";
};
template <>
inline constexpr auto fields_of<StartCommand> = std::tuple<>{};

/// The roles end: senders, servers and pongs that echo at once. A receiver that only receives ends when it has what it can
/// expect, when nothing has come for 1 s (reliable) or 0.25 s (best effort), or after 10 s.
struct StopCommand {
  static constexpr std::string_view tag_field = "command", tag = "stop";
  /// Different measured messages that such a receiver can expect; 0: it ends at once.
  std::uint64_t expected = 0;
  /// Only these end; none: every role does.
  std::vector<unsigned> subscribers{};
};
template <>
inline constexpr auto fields_of<StopCommand> = std::tuple{
    Field{"expected", &StopCommand::expected, Presence::optional},
    Field{"subscribers", &StopCommand::subscribers, Presence::optional}};

/// The worker closes the middleware and exits with status 0.
struct QuitCommand {
  static constexpr std::string_view tag_field = "command", tag = "quit";
};
template <>
inline constexpr auto fields_of<QuitCommand> = std::tuple<>{};

using Command = std::variant<ConfigureCommand, JoinCommand, StartCommand, StopCommand, QuitCommand>;

/// What `--companions` reads, one line.
struct CompanionsRequest {
  RequestedSettings settings{};
};
template <>
inline constexpr auto fields_of<CompanionsRequest> = std::tuple{
    Field{"settings", &CompanionsRequest::settings, Presence::required}};

/// The ruler: `source` is `tsc`, `cntvct` or `clock_monotonic`; cost and resolution as measured.
struct ClockFacts {
  std::string source{};
  double ticks_per_second = 0;
  double cost_ns = 0;
  double resolution_ns = 0;
};
template <>
inline constexpr auto fields_of<ClockFacts> = std::tuple{
    Field{"source", &ClockFacts::source, Presence::required},
    Field{"ticks_per_second", &ClockFacts::ticks_per_second, Presence::required, {.above = 0, .most = 1e+12}},
    Field{"cost_ns", &ClockFacts::cost_ns, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"resolution_ns", &ClockFacts::resolution_ns, Presence::required, {.least = 0, .most = 1e+09}}};

/// Who it is. The first thing that a worker says.
struct HelloEvent {
  static constexpr std::string_view tag_field = "event", tag = "hello";
  int protocol = 0;
  std::string adapter{};
  /// Of the middleware.
  std::string version{};
  int pid = 0;
  ClockFacts clock{};
};
template <>
inline constexpr auto fields_of<HelloEvent> = std::tuple{
    Field{"protocol", &HelloEvent::protocol, Presence::required},
    Field{"adapter", &HelloEvent::adapter, Presence::required},
    Field{"version", &HelloEvent::version, Presence::required},
    Field{"pid", &HelloEvent::pid, Presence::required, {.least = 0}},
    Field{"clock", &HelloEvent::clock, Presence::required}};

/// What is in force for the thread that asks, read back from the kernel.
struct InForce {
  std::vector<int> cpus{};
  Policy policy{};
  int priority = 0;
  bool mlocked = false;
};
template <>
inline constexpr auto fields_of<InForce> = std::tuple{
    Field{"cpus", &InForce::cpus, Presence::required, {.least = 0}},
    Field{"policy", &InForce::policy, Presence::required},
    Field{"priority", &InForce::priority, Presence::required, {.least = 0, .most = 99}},
    Field{"mlocked", &InForce::mlocked, Presence::required}};

/// Where a topic of the trial has a history: those that this worker's publishers owe are published.
struct PublishedEvent {
  static constexpr std::string_view tag_field = "event", tag = "published";
};
template <>
inline constexpr auto fields_of<PublishedEvent> = std::tuple<>{};

/// Every role has found its peers.
struct ReadyEvent {
  static constexpr std::string_view tag_field = "event", tag = "ready";
  /// From the topics being made to the peers being found; where subscribers join late, from their joining.
  std::uint64_t discovery_ns = 0;
  /// Before that: from opening the middleware to the topics being made.
  std::uint64_t opening_ns = 0;
  InForce placement{};
  /// The adapter's own, of how the settings were carried out.
  std::vector<std::string> notes{};
  /// The algorithms in force, in the middleware's words; empty at `security` none, and never otherwise.
  std::string protected_by{};
};
template <>
inline constexpr auto fields_of<ReadyEvent> = std::tuple{
    Field{"discovery_ns", &ReadyEvent::discovery_ns, Presence::required},
    Field{"opening_ns", &ReadyEvent::opening_ns, Presence::optional},
    Field{"placement", &ReadyEvent::placement, Presence::required},
    Field{"notes", &ReadyEvent::notes, Presence::required},
    Field{"protected_by", &ReadyEvent::protected_by, Presence::optional}};

/// What a role has counted so far, measured messages only. null: not what a role of its kind counts.
struct Counts {
  RoleKind role{};
  unsigned index = 0;
  std::optional<std::uint64_t> sent{};
  std::optional<std::uint64_t> publish_failed{};
  /// A publisher's: time that its thread slept within publish(); null as well where the kernel does not tell.
  std::optional<std::uint64_t> blocked_ns{};
  std::optional<std::uint64_t> received{};
  std::optional<std::uint64_t> duplicated{};
  std::optional<std::uint64_t> reordered{};
  std::optional<std::uint64_t> damaged{};
};
template <>
inline constexpr auto fields_of<Counts> = std::tuple{
    Field{"role", &Counts::role, Presence::required},
    Field{"index", &Counts::index, Presence::required},
    Field{"sent", &Counts::sent, Presence::optional},
    Field{"publish_failed", &Counts::publish_failed, Presence::optional},
    Field{"blocked_ns", &Counts::blocked_ns, Presence::optional},
    Field{"received", &Counts::received, Presence::optional},
    Field{"duplicated", &Counts::duplicated, Presence::optional},
    Field{"reordered", &Counts::reordered, Presence::optional},
    Field{"damaged", &Counts::damaged, Presence::optional}};

/// One thread of the worker.
struct ThreadUse {
  int tid = 0;
  std::string name{};
  std::uint64_t cpu_ns = 0;
  /// Runnable, but another had the processor; null: the kernel does not tell.
  std::optional<std::uint64_t> waiting_ns{};
};
template <>
inline constexpr auto fields_of<ThreadUse> = std::tuple{
    Field{"tid", &ThreadUse::tid, Presence::required, {.least = 0}},
    Field{"name", &ThreadUse::name, Presence::required},
    Field{"cpu_ns", &ThreadUse::cpu_ns, Presence::required},
    Field{"waiting_ns", &ThreadUse::waiting_ns, Presence::optional}};

/// What the process has used since it began. Take two and subtract. `user_ns` and `system_ns` together are exact to the
/// microsecond; the kernel divides them by where its ticks fell.
struct Resources {
  std::uint64_t rss_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  /// The part of the resident memory that holds the bench's own samples.
  std::uint64_t bench_bytes = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  /// Context switches of threads that had to wait for something.
  std::uint64_t voluntary = 0;
  /// Of threads that were pushed off their processor.
  std::uint64_t involuntary = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  /// Those alive, the process's first one first.
  std::vector<ThreadUse> threads{};
};
template <>
inline constexpr auto fields_of<Resources> = std::tuple{
    Field{"rss_bytes", &Resources::rss_bytes, Presence::required},
    Field{"peak_rss_bytes", &Resources::peak_rss_bytes, Presence::required},
    Field{"bench_bytes", &Resources::bench_bytes, Presence::required},
    Field{"user_ns", &Resources::user_ns, Presence::required},
    Field{"system_ns", &Resources::system_ns, Presence::required},
    Field{"voluntary", &Resources::voluntary, Presence::required},
    Field{"involuntary", &Resources::involuntary, Presence::required},
    Field{"minor_faults", &Resources::minor_faults, Presence::required},
    Field{"major_faults", &Resources::major_faults, Presence::required},
    Field{"threads", &Resources::threads, Presence::required}};

/// What the roles have counted and the process has used, all of it since the process began.
struct Account {
  /// CLOCK_MONOTONIC.
  std::uint64_t at_ns = 0;
  std::vector<Counts> roles{};
  Resources resources{};
};
template <>
inline constexpr auto fields_of<Account> = std::tuple{
    Field{"at_ns", &Account::at_ns, Presence::required},
    Field{"roles", &Account::roles, Presence::required},
    Field{"resources", &Account::resources, Presence::required}};

/// At once when the leading role (the first that sends, otherwise the first) is in its loop, then once a second.
struct TickEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "tick";
  /// The leading one.
  RoleKind role{};
  Phase phase{};
  /// In a flood that is stamped in part, this and `sent` may be up to 15 messages behind.
  std::uint64_t samples = 0;
  /// Since `start`.
  double elapsed_s = 0;
};
template <>
inline constexpr auto fields_of<TickEvent> = std::tuple_cat(fields_of<Account>, std::tuple{
    Field{"role", &TickEvent::role, Presence::required},
    Field{"phase", &TickEvent::phase, Presence::required},
    Field{"samples", &TickEvent::samples, Presence::required},
    Field{"elapsed_s", &TickEvent::elapsed_s, Presence::required, {.least = 0, .most = 1e+09}}});

/// Once, when the first role begins to measure; not at all when it was over before the control thread had a look.
struct MeasuringEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "measuring";
};
template <>
inline constexpr auto fields_of<MeasuringEvent> = fields_of<Account>;

/// The roles have ended.
struct DoneEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "done";
  /// The leading one.
  RoleKind role{};
};
template <>
inline constexpr auto fields_of<DoneEvent> = std::tuple_cat(fields_of<Account>, std::tuple{
    Field{"role", &DoneEvent::role, Presence::required}});

/// A publisher or a subscriber has ended, where `tells_ends` asked for it.
struct EndedEvent {
  static constexpr std::string_view tag_field = "event", tag = "ended";
  RoleKind role{};
  unsigned index = 0;
  /// Measured messages; of a subscriber 0.
  std::uint64_t sent = 0;
  /// Likewise, of each of a subscriber's forwards.
  std::vector<std::uint64_t> forwarded{};
};
template <>
inline constexpr auto fields_of<EndedEvent> = std::tuple{
    Field{"role", &EndedEvent::role, Presence::required},
    Field{"index", &EndedEvent::index, Presence::required},
    Field{"sent", &EndedEvent::sent, Presence::required},
    Field{"forwarded", &EndedEvent::forwarded, Presence::optional}};

/// What went wrong. The worker exits with status 1; after `silent` the results still come.
struct ErrorEvent {
  static constexpr std::string_view tag_field = "event", tag = "error";
  ErrorCode code{};
  std::string text{};
  std::string advice{};
};
template <>
inline constexpr auto fields_of<ErrorEvent> = std::tuple{
    Field{"code", &ErrorEvent::code, Presence::required},
    Field{"text", &ErrorEvent::text, Presence::required},
    Field{"advice", &ErrorEvent::advice, Presence::optional}};

/// What any role says. Its samples file is complete when it says so.
struct RoleResult {
  static constexpr std::string_view event = "result";
  unsigned index = 0;
  Ended ended{};
  /// The middleware's own words; empty: none.
  std::string last_error{};
};
template <>
inline constexpr auto fields_of<RoleResult> = std::tuple{
    Constant{"event", RoleResult::event},
    Field{"index", &RoleResult::index, Presence::required},
    Field{"ended", &RoleResult::ended, Presence::required},
    Field{"last_error", &RoleResult::last_error, Presence::required}};

/// Of a ping or a client.
struct CallerResult : RoleResult {
  /// Round trips in the samples file.
  std::uint64_t samples = 0;
  std::uint64_t warmup_samples = 0;
  double measured_s = 0;
  /// CLOCK_MONOTONIC of the first measured message; 0: there was none.
  std::uint64_t first_begin_ns = 0;
  /// What `begin_ns` of the samples counts from, by the raw counter.
  std::uint64_t start_ticks = 0;
  /// Of that counter.
  double ticks_per_second = 0;
  /// Publishes that succeeded.
  std::uint64_t sent = 0;
  /// Different replies, the damaged among them included.
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  /// Replies after their timeout.
  std::uint64_t late = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  /// The middleware refused: neither sent nor lost.
  std::uint64_t publish_failed = 0;
  /// Intended instants within the measuring; null without a schedule.
  std::optional<std::uint64_t> scheduled{};
  /// Sent more than a period of the schedule after their instant.
  std::optional<std::uint64_t> late_sends{};
  /// Instants for which nothing was sent before the end.
  std::optional<std::uint64_t> unsent{};
  /// The thread waited for intended instants.
  std::uint64_t pacing_ns = 0;
  /// Median; null: octets, or within the middleware's own calls.
  std::optional<std::uint64_t> serialize_p50_ns{};
  /// Likewise.
  std::optional<std::uint64_t> deserialize_p50_ns{};
};
template <>
inline constexpr auto fields_of<CallerResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"samples", &CallerResult::samples, Presence::required},
    Field{"warmup_samples", &CallerResult::warmup_samples, Presence::required},
    Field{"measured_s", &CallerResult::measured_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"first_begin_ns", &CallerResult::first_begin_ns, Presence::required},
    Field{"start_ticks", &CallerResult::start_ticks, Presence::required},
    Field{"ticks_per_second", &CallerResult::ticks_per_second, Presence::required, {.above = 0, .most = 1e+12}},
    Field{"sent", &CallerResult::sent, Presence::required},
    Field{"received", &CallerResult::received, Presence::required},
    Field{"lost", &CallerResult::lost, Presence::required},
    Field{"late", &CallerResult::late, Presence::required},
    Field{"duplicated", &CallerResult::duplicated, Presence::required},
    Field{"reordered", &CallerResult::reordered, Presence::required},
    Field{"damaged", &CallerResult::damaged, Presence::required},
    Field{"publish_failed", &CallerResult::publish_failed, Presence::required},
    Field{"scheduled", &CallerResult::scheduled, Presence::optional},
    Field{"late_sends", &CallerResult::late_sends, Presence::optional},
    Field{"unsent", &CallerResult::unsent, Presence::optional},
    Field{"pacing_ns", &CallerResult::pacing_ns, Presence::required},
    Field{"serialize_p50_ns", &CallerResult::serialize_p50_ns, Presence::optional},
    Field{"deserialize_p50_ns", &CallerResult::deserialize_p50_ns, Presence::optional}});

/// The ping's.
struct PingResult : CallerResult {
  static constexpr std::string_view tag_field = "role", tag = "ping";
};
template <>
inline constexpr auto fields_of<PingResult> = fields_of<CallerResult>;

/// A client's.
struct ClientResult : CallerResult {
  static constexpr std::string_view tag_field = "role", tag = "client";
  /// Request and reply were the middleware's own.
  bool native = false;
};
template <>
inline constexpr auto fields_of<ClientResult> = std::tuple_cat(fields_of<CallerResult>, std::tuple{
    Field{"native", &ClientResult::native, Presence::required}});

/// Of a pong or a server.
struct AnswererResult : RoleResult {
  std::uint64_t received = 0;
  std::uint64_t echoed = 0;
  /// Answers in the samples file.
  std::uint64_t stamped = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t publish_failed = 0;
  /// Median, of a server over topics that of the replies to its first client; null: octets, or within the middleware's own
  /// calls.
  std::optional<std::uint64_t> serialize_p50_ns{};
  /// Median; null likewise.
  std::optional<std::uint64_t> deserialize_p50_ns{};
};
template <>
inline constexpr auto fields_of<AnswererResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"received", &AnswererResult::received, Presence::required},
    Field{"echoed", &AnswererResult::echoed, Presence::required},
    Field{"stamped", &AnswererResult::stamped, Presence::required},
    Field{"lost", &AnswererResult::lost, Presence::required},
    Field{"duplicated", &AnswererResult::duplicated, Presence::required},
    Field{"reordered", &AnswererResult::reordered, Presence::required},
    Field{"damaged", &AnswererResult::damaged, Presence::required},
    Field{"publish_failed", &AnswererResult::publish_failed, Presence::required},
    Field{"serialize_p50_ns", &AnswererResult::serialize_p50_ns, Presence::optional},
    Field{"deserialize_p50_ns", &AnswererResult::deserialize_p50_ns, Presence::optional}});

/// A pong's.
struct PongResult : AnswererResult {
  static constexpr std::string_view tag_field = "role", tag = "pong";
};
template <>
inline constexpr auto fields_of<PongResult> = fields_of<AnswererResult>;

/// The server's.
struct ServerResult : AnswererResult {
  static constexpr std::string_view tag_field = "role", tag = "server";
  /// Request and reply were the middleware's own.
  bool native = false;
};
template <>
inline constexpr auto fields_of<ServerResult> = std::tuple_cat(fields_of<AnswererResult>, std::tuple{
    Field{"native", &ServerResult::native, Presence::required}});

/// A publisher's.
struct PublisherResult : RoleResult {
  static constexpr std::string_view tag_field = "role", tag = "publisher";
  unsigned topic = 0;
  /// Intended instants within the measuring; null without a schedule.
  std::optional<std::uint64_t> scheduled{};
  /// Publishes that succeeded.
  std::uint64_t sent = 0;
  /// Theirs, all together, where sizes vary; null: each has the topic's size.
  std::optional<std::uint64_t> sent_bytes{};
  /// Publishes that back-pressure held beyond the write timeout: neither sent nor lost.
  std::uint64_t timed_out = 0;
  /// The middleware refused: neither sent nor lost.
  std::uint64_t publish_failed = 0;
  /// Sent more than a period of the schedule after their instant.
  std::optional<std::uint64_t> late_sends{};
  /// Instants for which nothing was sent before the end.
  std::optional<std::uint64_t> unsent{};
  /// The thread slept while it was not waiting for an instant: within publish().
  std::optional<std::uint64_t> blocked_ns{};
  /// The thread waited for intended instants.
  std::uint64_t pacing_ns = 0;
  /// Time within publish(); null where not every message was stamped.
  std::optional<std::uint64_t> writing_ns{};
  /// Median; null: octets, forwarded, or within the middleware's own calls.
  std::optional<std::uint64_t> serialize_p50_ns{};
  /// Of so many messages the first was stamped.
  unsigned stamped_every = 1;
  /// CLOCK_MONOTONIC; 0: nothing was sent.
  std::uint64_t first_sent_ns = 0;
  std::uint64_t last_sent_ns = 0;
  double measured_s = 0;
  /// Records in the samples file.
  std::uint64_t samples = 0;
  /// Those that came when that was full.
  std::uint64_t in_histogram = 0;
  std::uint64_t warmup_samples = 0;
};
template <>
inline constexpr auto fields_of<PublisherResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"topic", &PublisherResult::topic, Presence::required},
    Field{"scheduled", &PublisherResult::scheduled, Presence::optional},
    Field{"sent", &PublisherResult::sent, Presence::required},
    Field{"sent_bytes", &PublisherResult::sent_bytes, Presence::optional},
    Field{"timed_out", &PublisherResult::timed_out, Presence::required},
    Field{"publish_failed", &PublisherResult::publish_failed, Presence::required},
    Field{"late_sends", &PublisherResult::late_sends, Presence::optional},
    Field{"unsent", &PublisherResult::unsent, Presence::optional},
    Field{"blocked_ns", &PublisherResult::blocked_ns, Presence::optional},
    Field{"pacing_ns", &PublisherResult::pacing_ns, Presence::required},
    Field{"writing_ns", &PublisherResult::writing_ns, Presence::optional},
    Field{"serialize_p50_ns", &PublisherResult::serialize_p50_ns, Presence::optional},
    Field{"stamped_every", &PublisherResult::stamped_every, Presence::required, {.least = 1}},
    Field{"first_sent_ns", &PublisherResult::first_sent_ns, Presence::required},
    Field{"last_sent_ns", &PublisherResult::last_sent_ns, Presence::required},
    Field{"measured_s", &PublisherResult::measured_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"samples", &PublisherResult::samples, Presence::required},
    Field{"in_histogram", &PublisherResult::in_histogram, Presence::required},
    Field{"warmup_samples", &PublisherResult::warmup_samples, Presence::required}});

/// A subscriber's. The one-way figures count from the intended instant and are known to 0.4 %.
struct SubscriberResult : RoleResult {
  static constexpr std::string_view tag_field = "role", tag = "subscriber";
  unsigned topic = 0;
  /// Different messages, the damaged among them included.
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  /// Different messages received, by publisher.
  std::vector<std::uint64_t> by_publisher{};
  /// CLOCK_MONOTONIC; of the warm-up's messages that came before the first measured one. 0: none did.
  std::uint64_t last_warm_up_ns = 0;
  /// CLOCK_MONOTONIC; 0: nothing came.
  std::uint64_t first_received_ns = 0;
  std::uint64_t last_received_ns = 0;
  /// Records in the samples file.
  std::uint64_t samples = 0;
  /// Those that came when that was full.
  std::uint64_t in_histogram = 0;
  std::optional<std::uint64_t> one_way_p50_ns{};
  std::optional<std::uint64_t> one_way_p99_ns{};
  std::optional<std::uint64_t> one_way_max_ns{};
  /// Median; null: octets, or within the middleware's own calls.
  std::optional<std::uint64_t> deserialize_p50_ns{};
  /// Messages of the topic's history that it had to receive, because it joined late.
  std::uint64_t history_due = 0;
  /// Different ones that came.
  std::uint64_t history_received = 0;
  /// From just before its end was opened to the last of them; null: none came.
  std::optional<std::uint64_t> history_ns{};
};
template <>
inline constexpr auto fields_of<SubscriberResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"topic", &SubscriberResult::topic, Presence::required},
    Field{"received", &SubscriberResult::received, Presence::required},
    Field{"duplicated", &SubscriberResult::duplicated, Presence::required},
    Field{"reordered", &SubscriberResult::reordered, Presence::required},
    Field{"damaged", &SubscriberResult::damaged, Presence::required},
    Field{"by_publisher", &SubscriberResult::by_publisher, Presence::optional},
    Field{"last_warm_up_ns", &SubscriberResult::last_warm_up_ns, Presence::optional},
    Field{"first_received_ns", &SubscriberResult::first_received_ns, Presence::required},
    Field{"last_received_ns", &SubscriberResult::last_received_ns, Presence::required},
    Field{"samples", &SubscriberResult::samples, Presence::required},
    Field{"in_histogram", &SubscriberResult::in_histogram, Presence::required},
    Field{"one_way_p50_ns", &SubscriberResult::one_way_p50_ns, Presence::optional},
    Field{"one_way_p99_ns", &SubscriberResult::one_way_p99_ns, Presence::optional},
    Field{"one_way_max_ns", &SubscriberResult::one_way_max_ns, Presence::optional},
    Field{"deserialize_p50_ns", &SubscriberResult::deserialize_p50_ns, Presence::optional},
    Field{"history_due", &SubscriberResult::history_due, Presence::optional},
    Field{"history_received", &SubscriberResult::history_received, Presence::optional},
    Field{"history_ns", &SubscriberResult::history_ns, Presence::optional}});

using AnyRoleResult = std::variant<PingResult, PongResult, PublisherResult, SubscriberResult, ClientResult, ServerResult>;

/// Durations of 1 µs and more, by octave.
struct DurationCounts {
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  /// (lower bound in ns, how many): a bucket ends at twice its lower bound. Those without any are left out.
  std::vector<std::tuple<std::uint64_t, std::uint64_t>> counts{};
};
template <>
inline constexpr auto fields_of<DurationCounts> = std::tuple{
    Field{"total_ns", &DurationCounts::total_ns, Presence::optional},
    Field{"longest_ns", &DurationCounts::longest_ns, Presence::optional},
    Field{"counts", &DurationCounts::counts, Presence::optional}};

/// One processor just before or just after a trial, as a thread found it that only wanted to read the clock.
struct Still {
  int cpu = 0;
  std::uint64_t spun_ns = 0;
  /// The processor stood still although the thread had it: interrupts, the hypervisor.
  DurationCounts gaps{};
  /// Another thread had it, or prolonged a sleep.
  DurationCounts taken{};
  /// Timed sleeps of 0.2 ms, where the trial's roles sleep.
  std::uint64_t wakes = 0;
  /// How much later than asked they ended.
  DurationCounts late{};
  /// Of that, all together, the kernel says that the thread waited for the processor, which nobody else had.
  std::uint64_t waited_ns = 0;
};
template <>
inline constexpr auto fields_of<Still> = std::tuple{
    Field{"cpu", &Still::cpu, Presence::required, {.least = 0}},
    Field{"spun_ns", &Still::spun_ns, Presence::required},
    Field{"gaps", &Still::gaps, Presence::required},
    Field{"taken", &Still::taken, Presence::required},
    Field{"wakes", &Still::wakes, Presence::optional},
    Field{"late", &Still::late, Presence::optional},
    Field{"waited_ns", &Still::waited_ns, Presence::optional}};

/// Somebody who had the roles' processors while they were measured.
struct Other {
  /// None: it had ended, or the kernel does not tell.
  std::optional<std::string> name{};
  std::optional<int> pid{};
  std::uint64_t ns = 0;
};
template <>
inline constexpr auto fields_of<Other> = std::tuple{
    Field{"name", &Other::name, Presence::required},
    Field{"pid", &Other::pid, Presence::required, {.least = 0}},
    Field{"ns", &Other::ns, Presence::required}};

/// How still the processors are: a thread on each only wants to read the clock.
struct ProbeCommand {
  static constexpr std::string_view tag_field = "command", tag = "probe";
  std::vector<int> cpus{};
  /// On these the first half of the time is timed sleeps.
  std::vector<int> sleeping{};
  std::uint64_t duration_ns = 0;
};
template <>
inline constexpr auto fields_of<ProbeCommand> = std::tuple{
    Field{"cpus", &ProbeCommand::cpus, Presence::required, {.least = 0}},
    Field{"sleeping", &ProbeCommand::sleeping, Presence::optional, {.least = 0}},
    Field{"duration_ns", &ProbeCommand::duration_ns, Presence::required, {.most = 1e+09}}};

/// What the probe found.
struct ProbedEvent {
  static constexpr std::string_view tag_field = "event", tag = "probed";
  std::vector<Still> cpus{};
};
template <>
inline constexpr auto fields_of<ProbedEvent> = std::tuple{
    Field{"cpus", &ProbedEvent::cpus, Presence::required}};

/// Keep processors from halting, from now on: a thread on each spins and gives way to all that wants to run.
struct AwakeCommand {
  static constexpr std::string_view tag_field = "command", tag = "awake";
  /// None: those that were kept awake may halt again.
  std::vector<int> cpus{};
  /// It ends by itself after this, and with the process that started the witness.
  std::uint64_t limit_ns = 0;
};
template <>
inline constexpr auto fields_of<AwakeCommand> = std::tuple{
    Field{"cpus", &AwakeCommand::cpus, Presence::optional, {.least = 0}},
    Field{"limit_ns", &AwakeCommand::limit_ns, Presence::optional, {.most = 8.64e+13}}};

/// What is kept awake.
struct AwakeEvent {
  static constexpr std::string_view tag_field = "event", tag = "awake";
  std::vector<int> cpus{};
  /// Why it is not what was asked for; nothing is kept awake then.
  std::optional<std::string> absent{};
};
template <>
inline constexpr auto fields_of<AwakeEvent> = std::tuple{
    Field{"cpus", &AwakeEvent::cpus, Presence::optional, {.least = 0}},
    Field{"absent", &AwakeEvent::absent, Presence::optional}};

/// Who has the processors, from now on.
struct WatchCommand {
  static constexpr std::string_view tag_field = "command", tag = "watch";
  std::vector<int> cpus{};
  /// The workers and their companions: what is neither theirs nor idle is another's.
  std::vector<int> pids{};
};
template <>
inline constexpr auto fields_of<WatchCommand> = std::tuple{
    Field{"cpus", &WatchCommand::cpus, Presence::required, {.least = 0}},
    Field{"pids", &WatchCommand::pids, Presence::required, {.least = 0}}};

/// What the kernel lets be seen.
struct WatchingEvent {
  static constexpr std::string_view tag_field = "event", tag = "watching";
  /// null: nothing is seen.
  std::optional<WatchScope> scope{};
  /// Why nothing is.
  std::optional<std::string> absent{};
};
template <>
inline constexpr auto fields_of<WatchingEvent> = std::tuple{
    Field{"scope", &WatchingEvent::scope, Presence::optional},
    Field{"absent", &WatchingEvent::absent, Presence::optional}};

/// What was seen between two instants, CLOCK_MONOTONIC. It ends the watching.
struct TellCommand {
  static constexpr std::string_view tag_field = "command", tag = "tell";
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};
template <>
inline constexpr auto fields_of<TellCommand> = std::tuple{
    Field{"from_ns", &TellCommand::from_ns, Presence::required},
    Field{"to_ns", &TellCommand::to_ns, Presence::required}};

/// How long one processor was another's.
struct CpuOthers {
  int cpu = 0;
  std::uint64_t others_ns = 0;
};
template <>
inline constexpr auto fields_of<CpuOthers> = std::tuple{
    Field{"cpu", &CpuOthers::cpu, Presence::required, {.least = 0}},
    Field{"others_ns", &CpuOthers::others_ns, Presence::required}};

/// What was seen.
struct SeenEvent {
  static constexpr std::string_view tag_field = "event", tag = "seen";
  /// null: nothing was watched, and nothing below means anything.
  std::optional<WatchScope> scope{};
  /// No record was lost.
  bool complete = false;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  std::vector<CpuOthers> cpus{};
  /// The eight that had the most.
  std::vector<Other> others{};
  /// (from ns, to ns, processor): the 2,000 longest.
  std::vector<std::tuple<std::uint64_t, std::uint64_t, int>> spells{};
  /// How many there were beyond these.
  std::uint64_t shorter = 0;
  std::uint64_t longest_of_the_shorter_ns = 0;
};
template <>
inline constexpr auto fields_of<SeenEvent> = std::tuple{
    Field{"scope", &SeenEvent::scope, Presence::optional},
    Field{"complete", &SeenEvent::complete, Presence::optional},
    Field{"records", &SeenEvent::records, Presence::optional},
    Field{"lost", &SeenEvent::lost, Presence::optional},
    Field{"cpus", &SeenEvent::cpus, Presence::optional},
    Field{"others", &SeenEvent::others, Presence::optional},
    Field{"spells", &SeenEvent::spells, Presence::optional},
    Field{"shorter", &SeenEvent::shorter, Presence::optional},
    Field{"longest_of_the_shorter_ns", &SeenEvent::longest_of_the_shorter_ns, Presence::optional}};

using WitnessCommand = std::variant<ProbeCommand, AwakeCommand, WatchCommand, TellCommand>;

using Event = std::variant<HelloEvent, PublishedEvent, ReadyEvent, TickEvent, MeasuringEvent, EndedEvent, DoneEvent, ErrorEvent, ProbedEvent, AwakeEvent, WatchingEvent, SeenEvent>;

}  // namespace middlemark
