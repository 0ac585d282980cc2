// Written by scripts/protocol from src/middlemark/model/protocol.py: change that file instead.
// The messages of the control protocol and their JSON form. docs/reference/protocol.md describes all their fields.
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

/// Version of the control protocol and of the description; raised when either changes incompatibly.
inline constexpr int protocol_version = 1;

enum class Pattern { ping_pong, stream, request_reply, crowd };
template <> inline constexpr std::array<std::string_view, 4> words_of<Pattern>{"ping-pong", "stream", "request-reply", "crowd"};

/// The topics to which a participant of a crowd subscribes. `next`: the topics of the next participant; the last participant
/// subscribes to those of the first. `all`: the topics of all other participants.
enum class Subscribe { next, all };
template <> inline constexpr std::array<std::string_view, 2> words_of<Subscribe>{"next", "all"};

enum class Reliability { reliable, best_effort };
template <> inline constexpr std::array<std::string_view, 2> words_of<Reliability>{"reliable", "best-effort"};

enum class Reception { poll, block, listen };
template <> inline constexpr std::array<std::string_view, 3> words_of<Reception>{"poll", "block", "listen"};

enum class Payload { filled, untouched };
template <> inline constexpr std::array<std::string_view, 2> words_of<Payload>{"filled", "untouched"};

/// The content of a message: plain bytes, or one of ROS's common messages, which is serialised and deserialised.
enum class MessageType { octets, image, point_cloud, imu, tf };
template <> inline constexpr std::array<std::string_view, 5> words_of<MessageType>{"octets", "image", "point-cloud", "imu", "tf"};

/// Protection of the messages. `none`: no protection. `authenticated`: the peers have proved who they are. `signed`: also,
/// nobody can change a message unnoticed. `encrypted`: also, nobody else can read a message.
enum class Security { none, authenticated, signed_, encrypted };
template <> inline constexpr std::array<std::string_view, 4> words_of<Security>{"none", "authenticated", "signed", "encrypted"};

/// The processes between the peers. `direct`: messages pass through no other process. `router`: messages pass through a
/// router or a broker. `discovery-server`: messages pass through no other process, and the peers find each other by a server
/// instead of the middleware's usual discovery.
enum class Via { direct, router, discovery_server };
template <> inline constexpr std::array<std::string_view, 3> words_of<Via>{"direct", "router", "discovery-server"};

/// Whose certificate and key a process has: docs/how-to/security.md. `intruder`: a valid certificate without permission.
/// `stranger`: a certificate of another authority.
enum class Identity { sender, receiver, broker, intruder, stranger };
template <> inline constexpr std::array<std::string_view, 5> words_of<Identity>{"sender", "receiver", "broker", "intruder", "stranger"};

enum class LoadKind { max, rate, burst };
template <> inline constexpr std::array<std::string_view, 3> words_of<LoadKind>{"max", "rate", "burst"};

enum class Arrivals { periodic, poisson };
template <> inline constexpr std::array<std::string_view, 2> words_of<Arrivals>{"periodic", "poisson"};

enum class Policy { other, fifo, rr };
template <> inline constexpr std::array<std::string_view, 3> words_of<Policy>{"other", "fifo", "rr"};

enum class RoleKind { ping, pong, publisher, subscriber, client, server, participant };
template <> inline constexpr std::array<std::string_view, 7> words_of<RoleKind>{"ping", "pong", "publisher", "subscriber", "client", "server", "participant"};

enum class Phase { waiting, warm_up, idle, joining, measuring, echoing, ended };
template <> inline constexpr std::array<std::string_view, 7> words_of<Phase>{"waiting", "warm-up", "idle", "joining", "measuring", "echoing", "ended"};

/// A phase of a crowd after the idle phase. `join`: participants send probes to the newcomer, which opens now. `talk`: they
/// send measured messages. `storm`: they send probes until `stop`, and the worker reports how many publishers each has heard
/// since. `leave`: the worker reports how many subscribers each still has.
enum class CrowdPhase { join, talk, storm, leave };
template <> inline constexpr std::array<std::string_view, 4> words_of<CrowdPhase>{"join", "talk", "storm", "leave"};

enum class ErrorCode { refused, unmatched, silent, hung, disk, configure, internal };
template <> inline constexpr std::array<std::string_view, 7> words_of<ErrorCode>{"refused", "unmatched", "silent", "hung", "disk", "configure", "internal"};

/// Which context switches the kernel reports. `processors`: every switch on a processor and both its threads; needs
/// perf_event_paranoid <= 0 or CAP_PERFMON. `workers`: when a thread of a worker was preempted and when it ran again, but
/// not by which thread it was preempted.
enum class WatchScope { processors, workers };
template <> inline constexpr std::array<std::string_view, 2> words_of<WatchScope>{"processors", "workers"};

enum class Language { c, cpp, json5, rust, toml, xml };
template <> inline constexpr std::array<std::string_view, 6> words_of<Language>{"c", "cpp", "json5", "rust", "toml", "xml"};

/// Why a role ended. `samples`, `duration`: the role has sent the requested number of messages, or has sent for the
/// requested time. `limit`: a sender's `limit_s`, or a receiver's limit of 10 s, has passed. `stopped`: the launcher stopped
/// the role. `silent`: replies no longer arrived, or no peer accepted messages. `complete`: a receiver has received all
/// expected messages. `quiet`: messages no longer arrived.
enum class Ended { samples, duration, limit, stopped, silent, complete, quiet };
template <> inline constexpr std::array<std::string_view, 7> words_of<Ended>{"samples", "duration", "limit", "stopped", "silent", "complete", "quiet"};

/// One topic of a stream.
struct TopicRequest {
  /// Size of every message, including the core's header.
  std::size_t message_bytes = 16;
  /// Indices of the topic's publishers.
  std::vector<unsigned> publishers{};
  /// Indices of the topic's subscribers.
  std::vector<unsigned> subscribers{};
  Reliability reliability{};
  /// Keep-last history depth in messages; null is keep-all.
  std::optional<std::uint32_t> depth = 1;
  /// Type of the messages; for a type other than `octets`, `message_bytes` is the size of the main array.
  MessageType type = MessageType::octets;
  /// Absolute path of a file with the sizes of the messages in order of sending: uint32 in host order, at most
  /// `message_bytes`. After the last size the sizes are repeated from the first. Empty: every message has `message_bytes`.
  std::string sizes_path{};
  /// Length of the transient-local history: all subscribers of this topic join late, and each must receive this number of
  /// messages. The topic then has one publisher. 0: volatile.
  std::uint32_t history = 0;
  /// Number of processes that contain the subscribers (some middlewares connect processes). 0: one process per subscriber.
  unsigned subscriber_processes = 0;
  /// If this topic carries the replies of a service: the number of the topic that carries its requests. Both topics
  /// together are one service of the middleware. The request topic has one subscriber, which forwards to this topic only.
  /// null: no service.
  std::optional<unsigned> replies_to{};
};
template <> inline constexpr auto fields_of<TopicRequest> = std::tuple{
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

/// The settings of one trial. The settings do not change, because an adapter reads them once, when it opens.
struct RequestedSettings {
  Pattern pattern{};
  /// One of the names in `Description.transports`.
  std::string transport{};
  /// If the topics of a stream differ: reliable if any topic is reliable.
  Reliability reliability{};
  /// How the roles will receive. Some middlewares must know this when they open.
  Reception reception = Reception::block;
  /// Keep-last history depth in messages; null: keep-all. If the topics of a stream differ: the largest depth.
  std::optional<std::uint32_t> depth = 1;
  /// Write into the middleware's own memory instead of the adapter's.
  bool loan = false;
  /// All roles of the trial run in this process.
  bool one_process = false;
  /// Size of every message, including the core's header. If the topics of a stream differ: the largest size.
  std::size_t message_bytes = 16;
  /// Type of every message, except in a stream, where each topic has its own type.
  MessageType type = MessageType::octets;
  /// Number of publishers of a stream or of clients of request/reply; 1 under ping-pong. At most 65,536, because the
  /// header has 16 bits for the publisher id.
  unsigned publishers = 1;
  /// Number of subscribers of a stream or of pongs (0: the ping receives its own messages); 1, the server, under
  /// request/reply.
  unsigned subscribers = 1;
  /// Topics of a stream; empty under the other patterns.
  std::vector<TopicRequest> topics{};
  /// Number of participants of a crowd, each with its own session of the middleware; 1 under the other patterns.
  unsigned participants = 1;
  /// Number of topics on which each participant of a crowd publishes; 1 under the other patterns.
  unsigned topics_each = 1;
  Subscribe subscribe = Subscribe::next;
  /// The largest number of participants of a crowd in one process; 1 under the other patterns.
  std::size_t participants_per_process = 1;
  /// Number of sessions of the middleware in the trial: one for each process, or in a crowd for each participant.
  unsigned workers = 2;
  /// A DDS domain, or another number by which a middleware separates trials.
  int domain = 0;
  /// Unique name of the trial, [a-z0-9_]+. The name of every topic, segment or port file begins with this name.
  std::string scope{};
  /// Absolute path of a folder for this trial only, shared by its workers and removed afterwards.
  std::string scratch{};
  /// The only network interface that the trial may use.
  std::string interface = "lo";
  /// The longest time that publish() may block.
  std::chrono::nanoseconds write_timeout{1000000000};
  /// The requested level. The adapter must provide exactly this level.
  Security security = Security::none;
  /// Absolute path of the folder of certificates and keys: docs/how-to/security.md. Empty at `none`.
  std::string certs{};
  /// Whose certificate and key from `certs` this process uses.
  Identity identity = Identity::sender;
  /// The processes between the peers. `companions` of the adapter starts the router or the server.
  Via via = Via::direct;
  /// The senders and the receivers of the trial use different adapters, whose transports have one `wire`.
  bool paired = false;
  /// The middleware's own settings; an adapter throws on an unknown key.
  std::map<std::string, std::string> native{};
};
template <> inline constexpr auto fields_of<RequestedSettings> = std::tuple{
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
    Field{"participants", &RequestedSettings::participants, Presence::optional, {.least = 1}},
    Field{"topics_each", &RequestedSettings::topics_each, Presence::optional, {.least = 1}},
    Field{"subscribe", &RequestedSettings::subscribe, Presence::optional},
    Field{"participants_per_process", &RequestedSettings::participants_per_process, Presence::optional, {.least = 1}},
    Field{"workers", &RequestedSettings::workers, Presence::required, {.least = 1}},
    Field{"domain", &RequestedSettings::domain, Presence::required, {.least = 0, .most = 232}},
    Field{"scope", &RequestedSettings::scope, Presence::required},
    Field{"scratch", &RequestedSettings::scratch, Presence::required},
    Field{"interface", &RequestedSettings::interface, Presence::optional},
    Field{"write_timeout_s", &RequestedSettings::write_timeout, Presence::optional, {.above = 0, .most = 1e+09}},
    Field{"security", &RequestedSettings::security, Presence::optional},
    Field{"certs", &RequestedSettings::certs, Presence::optional},
    Field{"identity", &RequestedSettings::identity, Presence::optional},
    Field{"via", &RequestedSettings::via, Presence::optional},
    Field{"paired", &RequestedSettings::paired, Presence::optional},
    Field{"native", &RequestedSettings::native, Presence::optional}};

/// Where and with which priority a worker's threads must run.
struct Placement {
  std::vector<int> cpus{};
  Policy policy{};
  int priority = 0;
  bool mlock = false;
  double rt_limit_s = 30;
};
template <> inline constexpr auto fields_of<Placement> = std::tuple{
    Field{"cpus", &Placement::cpus, Presence::required, {.least = 0}},
    Field{"policy", &Placement::policy, Presence::required},
    Field{"priority", &Placement::priority, Presence::required, {.least = 0, .most = 99}},
    Field{"mlock", &Placement::mlock, Presence::required},
    Field{"rt_limit_s", &Placement::rt_limit_s, Presence::optional, {.above = 0, .most = 1e+09}}};

/// The load of a sender: as fast as possible, at a rate, or in bursts.
struct Load {
  LoadKind kind = LoadKind::max;
  double rate_hz = 0;
  Arrivals arrivals = Arrivals::periodic;
  std::uint64_t seed = 0;
  std::uint64_t burst = 0;
  double recovery_s = 0;
  std::string instants_path{};
  std::uint64_t lap_ns = 0;
  bool sleeps = false;
};
template <> inline constexpr auto fields_of<Load> = std::tuple{
    Field{"kind", &Load::kind, Presence::optional},
    Field{"rate_hz", &Load::rate_hz, Presence::optional, {.least = 1e-06, .most = 1e+09}},
    Field{"arrivals", &Load::arrivals, Presence::optional}, Field{"seed", &Load::seed, Presence::optional},
    Field{"burst", &Load::burst, Presence::optional, {.least = 1}},
    Field{"recovery_s", &Load::recovery_s, Presence::optional, {.least = 0, .most = 1e+09}},
    Field{"instants_path", &Load::instants_path, Presence::optional}, Field{"lap_ns", &Load::lap_ns, Presence::optional},
    Field{"sleeps", &Load::sleeps, Presence::optional}};

/// The request to one role. The request does not change while the role runs.
struct RoleRequest {
  unsigned index = 0;
  Payload payload{};
  std::optional<int> cpu{};
};
template <> inline constexpr auto fields_of<RoleRequest> = std::tuple{
    Field{"index", &RoleRequest::index, Presence::required}, Field{"payload", &RoleRequest::payload, Presence::required},
    Field{"cpu", &RoleRequest::cpu, Presence::optional, {.least = 0}}};

/// The request to a role that sends. Exactly one of `samples` and `duration_s` is set.
struct SenderRequest : RoleRequest {
  Load load{};
  std::optional<std::uint64_t> samples{};
  std::optional<double> duration_s{};
  double warmup_s = 0.2;
  double limit_s = 120;
  std::string samples_path{};
};
template <> inline constexpr auto fields_of<SenderRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"load", &SenderRequest::load, Presence::optional}, Field{"samples", &SenderRequest::samples, Presence::required},
    Field{"duration_s", &SenderRequest::duration_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"warmup_s", &SenderRequest::warmup_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"limit_s", &SenderRequest::limit_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"samples_path", &SenderRequest::samples_path, Presence::required}});

/// The request to a ping or a client. A client is a ping whose messages one server answers.
struct CallerRequest : SenderRequest {
  double reply_timeout_s = 1;
  unsigned echoing = 1;
};
template <> inline constexpr auto fields_of<CallerRequest> = std::tuple_cat(fields_of<SenderRequest>, std::tuple{
    Field{"reply_timeout_s", &CallerRequest::reply_timeout_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"echoing", &CallerRequest::echoing, Presence::required, {.least = 1}}});

/// The request to the ping.
struct PingRequest : CallerRequest {
  static constexpr std::string_view tag_field = "role", tag = "ping";
};
template <> inline constexpr auto fields_of<PingRequest> = fields_of<CallerRequest>;

/// The request to a client of request/reply.
struct ClientRequest : CallerRequest {
  static constexpr std::string_view tag_field = "role", tag = "client";
};
template <> inline constexpr auto fields_of<ClientRequest> = fields_of<CallerRequest>;

/// The request to a pong, or to a server, which answers several clients. With a `samples_path` the role stamps some of the
/// messages that it answers. `samples` or `duration_s`, if set, are used to spread these messages over the whole measuring.
struct AnswererRequest : RoleRequest {
  std::string samples_path{};
  std::optional<std::uint64_t> samples{};
  std::optional<double> duration_s{};
};
template <> inline constexpr auto fields_of<AnswererRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"samples_path", &AnswererRequest::samples_path, Presence::optional},
    Field{"samples", &AnswererRequest::samples, Presence::optional},
    Field{"duration_s", &AnswererRequest::duration_s, Presence::optional, {.above = 0, .most = 1e+09}}});

/// The request to a pong.
struct PongRequest : AnswererRequest {
  static constexpr std::string_view tag_field = "role", tag = "pong";
  bool echoes = true;
  unsigned echoing = 1;
};
template <> inline constexpr auto fields_of<PongRequest> = std::tuple_cat(fields_of<AnswererRequest>, std::tuple{
    Field{"echoes", &PongRequest::echoes, Presence::required},
    Field{"echoing", &PongRequest::echoing, Presence::required, {.least = 1}}});

/// The request to the server of request/reply.
struct ServerRequest : AnswererRequest {
  static constexpr std::string_view tag_field = "role", tag = "server";
};
template <> inline constexpr auto fields_of<ServerRequest> = fields_of<AnswererRequest>;

/// The request to a publisher of a stream.
struct PublisherRequest : SenderRequest {
  static constexpr std::string_view tag_field = "role", tag = "publisher";
  unsigned topic = 0;
  std::uint64_t kept = 0;
};
template <> inline constexpr auto fields_of<PublisherRequest> = std::tuple_cat(fields_of<SenderRequest>, std::tuple{
    Field{"topic", &PublisherRequest::topic, Presence::required}, Field{"kept", &PublisherRequest::kept, Presence::required}});

/// The request to publish a message on a topic for each message that a subscriber receives: one step of a chain. The result
/// is a publisher's result. Record n belongs to the n-th message received. The intended instant of the forwarded message is
/// `work_s` after the reception.
struct ForwardRequest {
  unsigned index = 0;
  unsigned topic = 0;
  double work_s = 0;
  std::string samples_path{};
  std::uint64_t kept = 0;
};
template <> inline constexpr auto fields_of<ForwardRequest> = std::tuple{
    Field{"index", &ForwardRequest::index, Presence::required}, Field{"topic", &ForwardRequest::topic, Presence::required},
    Field{"work_s", &ForwardRequest::work_s, Presence::optional, {.least = 0, .most = 1e+09}},
    Field{"samples_path", &ForwardRequest::samples_path, Presence::required},
    Field{"kept", &ForwardRequest::kept, Presence::required}};

/// The request to a subscriber of a stream.
struct SubscriberRequest : RoleRequest {
  static constexpr std::string_view tag_field = "role", tag = "subscriber";
  unsigned topic = 0;
  std::string samples_path{};
  std::uint64_t kept = 0;
  std::vector<ForwardRequest> forwards{};
};
template <> inline constexpr auto fields_of<SubscriberRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"topic", &SubscriberRequest::topic, Presence::required},
    Field{"samples_path", &SubscriberRequest::samples_path, Presence::required},
    Field{"kept", &SubscriberRequest::kept, Presence::required},
    Field{"forwards", &SubscriberRequest::forwards, Presence::optional}});

/// The request to one participant of a crowd: a session with publishers and subscribers of its own. From its opening until
/// `start`, the participant sends probes on each of its topics. After `start` it is idle, and then it follows the commands
/// `crowd`. The newcomer has the first index after those of the participants. It receives no `start`.
struct ParticipantRequest : RoleRequest {
  static constexpr std::string_view tag_field = "role", tag = "participant";
  double probe_s = 0.01;
  double idle_s = 0;
  double rate_hz = 1;
  std::uint64_t messages = 1;
  std::string samples_path{};
  bool storms = false;
};
template <> inline constexpr auto fields_of<ParticipantRequest> = std::tuple_cat(fields_of<RoleRequest>, std::tuple{
    Field{"probe_s", &ParticipantRequest::probe_s, Presence::required, {.above = 0, .most = 1e+09}},
    Field{"idle_s", &ParticipantRequest::idle_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"rate_hz", &ParticipantRequest::rate_hz, Presence::required, {.least = 1e-06, .most = 1e+09}},
    Field{"messages", &ParticipantRequest::messages, Presence::required, {.least = 1}},
    Field{"samples_path", &ParticipantRequest::samples_path, Presence::required},
    Field{"storms", &ParticipantRequest::storms, Presence::optional}});

using AnyRoleRequest = std::variant<PingRequest, PongRequest, PublisherRequest, SubscriberRequest, ClientRequest, ServerRequest, ParticipantRequest>;

/// Everything that one worker must do in a trial.
struct ConfigureCommand {
  static constexpr std::string_view tag_field = "command", tag = "configure";
  RequestedSettings settings{};
  Placement placement{};
  double match_timeout_s = 10;
  bool tells_ends = false;
  bool latencies = false;
  std::vector<AnyRoleRequest> roles{};
};
template <> inline constexpr auto fields_of<ConfigureCommand> = std::tuple{
    Field{"settings", &ConfigureCommand::settings, Presence::required},
    Field{"placement", &ConfigureCommand::placement, Presence::required},
    Field{"match_timeout_s", &ConfigureCommand::match_timeout_s, Presence::optional, {.above = 0, .most = 1e+09}},
    Field{"tells_ends", &ConfigureCommand::tells_ends, Presence::optional},
    Field{"latencies", &ConfigureCommand::latencies, Presence::optional},
    Field{"roles", &ConfigureCommand::roles, Presence::required, {.least_items = 1}}};

/// All histories are published. The worker now opens the subscribers of transient-local topics.
struct JoinCommand {
  static constexpr std::string_view tag_field = "command", tag = "join";
};
template <> inline constexpr auto fields_of<JoinCommand> = std::tuple<>{};

/// The roles begin.
struct StartCommand {
  static constexpr std::string_view tag_field = "command", tag = "start";
};
template <> inline constexpr auto fields_of<StartCommand> = std::tuple<>{};

/// The participants begin the next phase of a crowd. `leave` is sent after the results.
struct CrowdCommand {
  static constexpr std::string_view tag_field = "command", tag = "crowd";
  CrowdPhase phase{};
  std::uint64_t at_ns = 0;
};
template <> inline constexpr auto fields_of<CrowdCommand> = std::tuple{
    Field{"phase", &CrowdCommand::phase, Presence::required}, Field{"at_ns", &CrowdCommand::at_ns, Presence::optional}};

/// Ends the roles. Senders, servers and pongs that echo end at once. A role that only receives ends when it has received all
/// expected messages, when no message has arrived for 1 s (reliable) or 0.25 s (best effort), or after 10 s.
struct StopCommand {
  static constexpr std::string_view tag_field = "command", tag = "stop";
  std::uint64_t expected = 0;
  std::vector<unsigned> subscribers{};
};
template <> inline constexpr auto fields_of<StopCommand> = std::tuple{
    Field{"expected", &StopCommand::expected, Presence::optional},
    Field{"subscribers", &StopCommand::subscribers, Presence::optional}};

/// The worker closes the middleware and exits with status 0.
struct QuitCommand {
  static constexpr std::string_view tag_field = "command", tag = "quit";
};
template <> inline constexpr auto fields_of<QuitCommand> = std::tuple<>{};

using Command = std::variant<ConfigureCommand, JoinCommand, StartCommand, CrowdCommand, StopCommand, QuitCommand>;

/// The line that `--companions` reads.
struct CompanionsRequest {
  RequestedSettings settings{};
};
template <> inline constexpr auto fields_of<CompanionsRequest> = std::tuple{
    Field{"settings", &CompanionsRequest::settings, Presence::required}};

/// The clock that a worker measures with, and its measured cost and resolution. `source` is `tsc`, `cntvct` or
/// `clock_monotonic`.
struct ClockFacts {
  std::string source{};
  double ticks_per_second = 0;
  double cost_ns = 0;
  double resolution_ns = 0;
};
template <> inline constexpr auto fields_of<ClockFacts> = std::tuple{
    Field{"source", &ClockFacts::source, Presence::required},
    Field{"ticks_per_second", &ClockFacts::ticks_per_second, Presence::required, {.above = 0, .most = 1e+12}},
    Field{"cost_ns", &ClockFacts::cost_ns, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"resolution_ns", &ClockFacts::resolution_ns, Presence::required, {.least = 0, .most = 1e+09}}};

/// The first event of a worker: the adapter of the worker, and its clock.
struct HelloEvent {
  static constexpr std::string_view tag_field = "event", tag = "hello";
  int protocol = 0;
  std::string adapter{};
  std::string version{};
  int pid = 0;
  ClockFacts clock{};
};
template <> inline constexpr auto fields_of<HelloEvent> = std::tuple{
    Field{"protocol", &HelloEvent::protocol, Presence::required}, Field{"adapter", &HelloEvent::adapter, Presence::required},
    Field{"version", &HelloEvent::version, Presence::required},
    Field{"pid", &HelloEvent::pid, Presence::required, {.least = 0}}, Field{"clock", &HelloEvent::clock, Presence::required}};

/// The placement in force for the calling thread, read back from the kernel.
struct InForce {
  std::vector<int> cpus{};
  Policy policy{};
  int priority = 0;
  bool mlocked = false;
};
template <> inline constexpr auto fields_of<InForce> = std::tuple{
    Field{"cpus", &InForce::cpus, Presence::required, {.least = 0}}, Field{"policy", &InForce::policy, Presence::required},
    Field{"priority", &InForce::priority, Presence::required, {.least = 0, .most = 99}},
    Field{"mlocked", &InForce::mlocked, Presence::required}};

/// Settings that a worker applied, as a configuration file of its middleware or as lines of code.
struct OwnSettings {
  Language language{};
  std::string text{};
};
template <> inline constexpr auto fields_of<OwnSettings> = std::tuple{
    Field{"language", &OwnSettings::language, Presence::required},
    Field{"text", &OwnSettings::text, Presence::required, {.least_items = 1}}};

/// This worker's publishers have published their histories. Sent only if a topic of the trial has a history.
struct PublishedEvent {
  static constexpr std::string_view tag_field = "event", tag = "published";
};
template <> inline constexpr auto fields_of<PublishedEvent> = std::tuple<>{};

/// Every role has found its peers.
struct ReadyEvent {
  static constexpr std::string_view tag_field = "event", tag = "ready";
  std::uint64_t discovery_ns = 0;
  std::uint64_t opening_ns = 0;
  InForce placement{};
  std::vector<std::string> notes{};
  std::string protected_by{};
  std::uint64_t segment_bytes = 0;
  std::string segment_setting{};
  std::optional<OwnSettings> settings{};
};
template <> inline constexpr auto fields_of<ReadyEvent> = std::tuple{
    Field{"discovery_ns", &ReadyEvent::discovery_ns, Presence::required},
    Field{"opening_ns", &ReadyEvent::opening_ns, Presence::optional},
    Field{"placement", &ReadyEvent::placement, Presence::required}, Field{"notes", &ReadyEvent::notes, Presence::required},
    Field{"protected_by", &ReadyEvent::protected_by, Presence::optional},
    Field{"segment_bytes", &ReadyEvent::segment_bytes, Presence::optional},
    Field{"segment_setting", &ReadyEvent::segment_setting, Presence::optional},
    Field{"settings", &ReadyEvent::settings, Presence::optional}};

/// Numbers of measured messages of one role so far. null: a role of this kind does not have this counter.
struct Counts {
  RoleKind role{};
  unsigned index = 0;
  std::optional<std::uint64_t> sent{};
  std::optional<std::uint64_t> publish_failed{};
  std::optional<std::uint64_t> blocked_ns{};
  std::optional<std::uint64_t> received{};
  std::optional<std::uint64_t> duplicated{};
  std::optional<std::uint64_t> reordered{};
  std::optional<std::uint64_t> damaged{};
};
template <> inline constexpr auto fields_of<Counts> = std::tuple{
    Field{"role", &Counts::role, Presence::required}, Field{"index", &Counts::index, Presence::required},
    Field{"sent", &Counts::sent, Presence::optional}, Field{"publish_failed", &Counts::publish_failed, Presence::optional},
    Field{"blocked_ns", &Counts::blocked_ns, Presence::optional}, Field{"received", &Counts::received, Presence::optional},
    Field{"duplicated", &Counts::duplicated, Presence::optional}, Field{"reordered", &Counts::reordered, Presence::optional},
    Field{"damaged", &Counts::damaged, Presence::optional}};

/// Latencies that a ping, a client or a subscriber recorded since the previous report. They begin at the intended instant,
/// or at publish if the load has no schedule.
struct Latencies {
  RoleKind role{};
  unsigned index = 0;
  std::uint64_t max_ns = 0;
  std::vector<std::tuple<std::uint64_t, std::uint64_t>> buckets{};
};
template <> inline constexpr auto fields_of<Latencies> = std::tuple{
    Field{"role", &Latencies::role, Presence::required}, Field{"index", &Latencies::index, Presence::required},
    Field{"max_ns", &Latencies::max_ns, Presence::required}, Field{"buckets", &Latencies::buckets, Presence::optional}};

/// One thread of the worker.
struct ThreadUse {
  int tid = 0;
  std::string name{};
  std::uint64_t cpu_ns = 0;
  std::optional<std::uint64_t> waiting_ns{};
};
template <> inline constexpr auto fields_of<ThreadUse> = std::tuple{
    Field{"tid", &ThreadUse::tid, Presence::required, {.least = 0}}, Field{"name", &ThreadUse::name, Presence::required},
    Field{"cpu_ns", &ThreadUse::cpu_ns, Presence::required}, Field{"waiting_ns", &ThreadUse::waiting_ns, Presence::optional}};

/// Resources that the process has used since it began. The difference of two reports is the use between them. The sum of
/// `user_ns` and `system_ns` is exact to the microsecond. The kernel estimates the split between the two from samples at its
/// clock ticks.
struct Resources {
  std::uint64_t rss_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t bench_bytes = 0;
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::optional<std::uint64_t> private_bytes{};
  std::optional<std::uint64_t> descriptors{};
  std::vector<ThreadUse> threads{};
};
template <> inline constexpr auto fields_of<Resources> = std::tuple{
    Field{"rss_bytes", &Resources::rss_bytes, Presence::required},
    Field{"peak_rss_bytes", &Resources::peak_rss_bytes, Presence::required},
    Field{"bench_bytes", &Resources::bench_bytes, Presence::required},
    Field{"user_ns", &Resources::user_ns, Presence::required}, Field{"system_ns", &Resources::system_ns, Presence::required},
    Field{"voluntary", &Resources::voluntary, Presence::required},
    Field{"involuntary", &Resources::involuntary, Presence::required},
    Field{"minor_faults", &Resources::minor_faults, Presence::required},
    Field{"major_faults", &Resources::major_faults, Presence::required},
    Field{"private_bytes", &Resources::private_bytes, Presence::optional},
    Field{"descriptors", &Resources::descriptors, Presence::optional},
    Field{"threads", &Resources::threads, Presence::required}};

/// The counters of the roles, and the resources that the process has used since it began.
struct Account {
  std::uint64_t at_ns = 0;
  std::vector<Counts> roles{};
  Resources resources{};
  std::vector<Latencies> latencies{};
};
template <> inline constexpr auto fields_of<Account> = std::tuple{
    Field{"at_ns", &Account::at_ns, Presence::required}, Field{"roles", &Account::roles, Presence::required},
    Field{"resources", &Account::resources, Presence::required}, Field{"latencies", &Account::latencies, Presence::optional}};

/// Sent after `start` and then once per second. The leading role is the first role that sends, or else the first role.
struct TickEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "tick";
  RoleKind role{};
  Phase phase{};
  std::uint64_t samples = 0;
  double elapsed_s = 0;
};
template <> inline constexpr auto fields_of<TickEvent> = std::tuple_cat(fields_of<Account>, std::tuple{
    Field{"role", &TickEvent::role, Presence::required}, Field{"phase", &TickEvent::phase, Presence::required},
    Field{"samples", &TickEvent::samples, Presence::required},
    Field{"elapsed_s", &TickEvent::elapsed_s, Presence::required, {.least = 0, .most = 1e+09}}});

/// Sent once, when the first role begins to measure. Not sent if all roles end before the worker notices.
struct MeasuringEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "measuring";
};
template <> inline constexpr auto fields_of<MeasuringEvent> = fields_of<Account>;

/// The roles have ended.
struct DoneEvent : Account {
  static constexpr std::string_view tag_field = "event", tag = "done";
  RoleKind role{};
};
template <> inline constexpr auto fields_of<DoneEvent> = std::tuple_cat(fields_of<Account>, std::tuple{
    Field{"role", &DoneEvent::role, Presence::required}});

/// A publisher or a subscriber has ended. Sent only if `tells_ends` is set.
struct EndedEvent {
  static constexpr std::string_view tag_field = "event", tag = "ended";
  RoleKind role{};
  unsigned index = 0;
  std::uint64_t sent = 0;
  std::vector<std::uint64_t> forwarded{};
};
template <> inline constexpr auto fields_of<EndedEvent> = std::tuple{
    Field{"role", &EndedEvent::role, Presence::required}, Field{"index", &EndedEvent::index, Presence::required},
    Field{"sent", &EndedEvent::sent, Presence::required}, Field{"forwarded", &EndedEvent::forwarded, Presence::optional}};

/// The peers of one participant.
struct Peers {
  unsigned index = 0;
  std::uint64_t found = 0;
};
template <> inline constexpr auto fields_of<Peers> = std::tuple{
    Field{"index", &Peers::index, Presence::required}, Field{"found", &Peers::found, Presence::required}};

/// Sent at once after `crowd` with `storm` or `leave`, and then whenever a number has changed.
struct PeersEvent {
  static constexpr std::string_view tag_field = "event", tag = "peers";
  std::uint64_t at_ns = 0;
  std::vector<Peers> participants{};
};
template <> inline constexpr auto fields_of<PeersEvent> = std::tuple{
    Field{"at_ns", &PeersEvent::at_ns, Presence::required},
    Field{"participants", &PeersEvent::participants, Presence::required}};

/// An error. The worker exits with status 1; after `silent` it still sends the results.
struct ErrorEvent {
  static constexpr std::string_view tag_field = "event", tag = "error";
  ErrorCode code{};
  std::string text{};
  std::string advice{};
};
template <> inline constexpr auto fields_of<ErrorEvent> = std::tuple{
    Field{"code", &ErrorEvent::code, Presence::required}, Field{"text", &ErrorEvent::text, Presence::required},
    Field{"advice", &ErrorEvent::advice, Presence::optional}};

/// The result of one role. Only measured messages count. Sent when the samples file is complete.
struct RoleResult {
  static constexpr std::string_view event = "result";
  unsigned index = 0;
  Ended ended{};
  std::string last_error{};
};
template <> inline constexpr auto fields_of<RoleResult> = std::tuple{
    Constant{"event", RoleResult::event}, Field{"index", &RoleResult::index, Presence::required},
    Field{"ended", &RoleResult::ended, Presence::required}, Field{"last_error", &RoleResult::last_error, Presence::required}};

/// The result of a ping or a client.
struct CallerResult : RoleResult {
  std::uint64_t samples = 0;
  std::uint64_t in_histogram = 0;
  std::uint64_t warmup_samples = 0;
  double measured_s = 0;
  std::uint64_t first_begin_ns = 0;
  std::uint64_t start_ticks = 0;
  double ticks_per_second = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t publish_failed = 0;
  std::optional<std::uint64_t> scheduled{};
  std::optional<std::uint64_t> late_sends{};
  std::optional<std::uint64_t> unsent{};
  std::uint64_t pacing_ns = 0;
  std::optional<std::uint64_t> serialize_p50_ns{};
  std::optional<std::uint64_t> deserialize_p50_ns{};
};
template <> inline constexpr auto fields_of<CallerResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"samples", &CallerResult::samples, Presence::required},
    Field{"in_histogram", &CallerResult::in_histogram, Presence::optional},
    Field{"warmup_samples", &CallerResult::warmup_samples, Presence::required},
    Field{"measured_s", &CallerResult::measured_s, Presence::required, {.least = 0, .most = 1e+09}},
    Field{"first_begin_ns", &CallerResult::first_begin_ns, Presence::required},
    Field{"start_ticks", &CallerResult::start_ticks, Presence::required},
    Field{"ticks_per_second", &CallerResult::ticks_per_second, Presence::required, {.above = 0, .most = 1e+12}},
    Field{"sent", &CallerResult::sent, Presence::required}, Field{"received", &CallerResult::received, Presence::required},
    Field{"lost", &CallerResult::lost, Presence::required}, Field{"late", &CallerResult::late, Presence::required},
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

/// The result of the ping.
struct PingResult : CallerResult {
  static constexpr std::string_view tag_field = "role", tag = "ping";
};
template <> inline constexpr auto fields_of<PingResult> = fields_of<CallerResult>;

/// The result of a client.
struct ClientResult : CallerResult {
  static constexpr std::string_view tag_field = "role", tag = "client";
  bool native = false;
};
template <> inline constexpr auto fields_of<ClientResult> = std::tuple_cat(fields_of<CallerResult>, std::tuple{
    Field{"native", &ClientResult::native, Presence::required}});

/// The result of a pong or a server.
struct AnswererResult : RoleResult {
  std::uint64_t received = 0;
  std::uint64_t echoed = 0;
  std::uint64_t stamped = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t publish_failed = 0;
  std::optional<std::uint64_t> serialize_p50_ns{};
  std::optional<std::uint64_t> deserialize_p50_ns{};
};
template <> inline constexpr auto fields_of<AnswererResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"received", &AnswererResult::received, Presence::required},
    Field{"echoed", &AnswererResult::echoed, Presence::required},
    Field{"stamped", &AnswererResult::stamped, Presence::required}, Field{"lost", &AnswererResult::lost, Presence::required},
    Field{"duplicated", &AnswererResult::duplicated, Presence::required},
    Field{"reordered", &AnswererResult::reordered, Presence::required},
    Field{"damaged", &AnswererResult::damaged, Presence::required},
    Field{"publish_failed", &AnswererResult::publish_failed, Presence::required},
    Field{"serialize_p50_ns", &AnswererResult::serialize_p50_ns, Presence::optional},
    Field{"deserialize_p50_ns", &AnswererResult::deserialize_p50_ns, Presence::optional}});

/// The result of a pong.
struct PongResult : AnswererResult {
  static constexpr std::string_view tag_field = "role", tag = "pong";
};
template <> inline constexpr auto fields_of<PongResult> = fields_of<AnswererResult>;

/// The result of the server.
struct ServerResult : AnswererResult {
  static constexpr std::string_view tag_field = "role", tag = "server";
  bool native = false;
};
template <> inline constexpr auto fields_of<ServerResult> = std::tuple_cat(fields_of<AnswererResult>, std::tuple{
    Field{"native", &ServerResult::native, Presence::required}});

/// The result of a publisher.
struct PublisherResult : RoleResult {
  static constexpr std::string_view tag_field = "role", tag = "publisher";
  unsigned topic = 0;
  std::optional<std::uint64_t> scheduled{};
  std::uint64_t sent = 0;
  std::optional<std::uint64_t> sent_bytes{};
  std::uint64_t timed_out = 0;
  std::uint64_t publish_failed = 0;
  std::optional<std::uint64_t> late_sends{};
  std::optional<std::uint64_t> unsent{};
  std::optional<std::uint64_t> blocked_ns{};
  std::uint64_t pacing_ns = 0;
  std::optional<std::uint64_t> writing_ns{};
  std::optional<std::uint64_t> serialize_p50_ns{};
  unsigned stamped_every = 1;
  std::uint64_t first_sent_ns = 0;
  std::uint64_t last_sent_ns = 0;
  double measured_s = 0;
  std::uint64_t samples = 0;
  std::uint64_t in_histogram = 0;
  std::uint64_t warmup_samples = 0;
};
template <> inline constexpr auto fields_of<PublisherResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
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

/// The result of a subscriber. One-way times begin at the intended instant and are accurate to 0.4 %.
struct SubscriberResult : RoleResult {
  static constexpr std::string_view tag_field = "role", tag = "subscriber";
  unsigned topic = 0;
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::vector<std::uint64_t> by_publisher{};
  std::uint64_t last_warm_up_ns = 0;
  std::uint64_t first_received_ns = 0;
  std::uint64_t last_received_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t in_histogram = 0;
  std::optional<std::uint64_t> one_way_p50_ns{};
  std::optional<std::uint64_t> one_way_p99_ns{};
  std::optional<std::uint64_t> one_way_max_ns{};
  std::optional<std::uint64_t> deserialize_p50_ns{};
  std::uint64_t history_due = 0;
  std::uint64_t history_received = 0;
  std::optional<std::uint64_t> history_ns{};
};
template <> inline constexpr auto fields_of<SubscriberResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
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

/// The result of a participant of a crowd. All instants are of CLOCK_MONOTONIC; 0: the event did not occur.
struct ParticipantResult : RoleResult {
  static constexpr std::string_view tag_field = "role", tag = "participant";
  std::uint64_t opening_ns = 0;
  std::uint64_t opened_ns = 0;
  std::uint64_t complete_ns = 0;
  std::uint64_t publishers_due = 0;
  std::uint64_t publishers_heard = 0;
  std::uint64_t probes = 0;
  std::uint64_t sent = 0;
  std::uint64_t publish_failed = 0;
  std::uint64_t late_sends = 0;
  std::uint64_t expected = 0;
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t damaged = 0;
  std::uint64_t first_sent_ns = 0;
  std::uint64_t last_sent_ns = 0;
  std::uint64_t first_received_ns = 0;
  std::uint64_t last_received_ns = 0;
  std::uint64_t samples = 0;
};
template <> inline constexpr auto fields_of<ParticipantResult> = std::tuple_cat(fields_of<RoleResult>, std::tuple{
    Field{"opening_ns", &ParticipantResult::opening_ns, Presence::required},
    Field{"opened_ns", &ParticipantResult::opened_ns, Presence::required},
    Field{"complete_ns", &ParticipantResult::complete_ns, Presence::required},
    Field{"publishers_due", &ParticipantResult::publishers_due, Presence::required},
    Field{"publishers_heard", &ParticipantResult::publishers_heard, Presence::required},
    Field{"probes", &ParticipantResult::probes, Presence::required},
    Field{"sent", &ParticipantResult::sent, Presence::required},
    Field{"publish_failed", &ParticipantResult::publish_failed, Presence::required},
    Field{"late_sends", &ParticipantResult::late_sends, Presence::required},
    Field{"expected", &ParticipantResult::expected, Presence::required},
    Field{"received", &ParticipantResult::received, Presence::required},
    Field{"duplicated", &ParticipantResult::duplicated, Presence::required},
    Field{"reordered", &ParticipantResult::reordered, Presence::required},
    Field{"damaged", &ParticipantResult::damaged, Presence::required},
    Field{"first_sent_ns", &ParticipantResult::first_sent_ns, Presence::required},
    Field{"last_sent_ns", &ParticipantResult::last_sent_ns, Presence::required},
    Field{"first_received_ns", &ParticipantResult::first_received_ns, Presence::required},
    Field{"last_received_ns", &ParticipantResult::last_received_ns, Presence::required},
    Field{"samples", &ParticipantResult::samples, Presence::required}});

using AnyRoleResult = std::variant<PingResult, PongResult, PublisherResult, SubscriberResult, ClientResult, ServerResult, ParticipantResult>;

/// Histogram of durations of 1 µs and more, by octave.
struct DurationCounts {
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::vector<std::tuple<std::uint64_t, std::uint64_t>> counts{};
};
template <> inline constexpr auto fields_of<DurationCounts> = std::tuple{
    Field{"total_ns", &DurationCounts::total_ns, Presence::optional},
    Field{"longest_ns", &DurationCounts::longest_ns, Presence::optional},
    Field{"counts", &DurationCounts::counts, Presence::optional}};

/// Disturbances of one processor just before or after a trial, measured by a thread that only reads the clock.
struct Still {
  int cpu = 0;
  std::uint64_t spun_ns = 0;
  DurationCounts gaps{};
  DurationCounts taken{};
  std::uint64_t wakes = 0;
  DurationCounts late{};
  std::uint64_t waited_ns = 0;
};
template <> inline constexpr auto fields_of<Still> = std::tuple{
    Field{"cpu", &Still::cpu, Presence::required, {.least = 0}}, Field{"spun_ns", &Still::spun_ns, Presence::required},
    Field{"gaps", &Still::gaps, Presence::required}, Field{"taken", &Still::taken, Presence::required},
    Field{"wakes", &Still::wakes, Presence::optional}, Field{"late", &Still::late, Presence::optional},
    Field{"waited_ns", &Still::waited_ns, Presence::optional}};

/// Another process or thread that ran on the roles' processors while they measured.
struct Other {
  std::optional<std::string> name{};
  std::optional<int> pid{};
  std::uint64_t ns = 0;
};
template <> inline constexpr auto fields_of<Other> = std::tuple{
    Field{"name", &Other::name, Presence::required}, Field{"pid", &Other::pid, Presence::required, {.least = 0}},
    Field{"ns", &Other::ns, Presence::required}};

/// Measures how much the processors are disturbed: on each processor a thread only reads the clock.
struct ProbeCommand {
  static constexpr std::string_view tag_field = "command", tag = "probe";
  std::vector<int> cpus{};
  std::vector<int> sleeping{};
  std::uint64_t duration_ns = 0;
};
template <> inline constexpr auto fields_of<ProbeCommand> = std::tuple{
    Field{"cpus", &ProbeCommand::cpus, Presence::required, {.least = 0}},
    Field{"sleeping", &ProbeCommand::sleeping, Presence::optional, {.least = 0}},
    Field{"duration_ns", &ProbeCommand::duration_ns, Presence::required, {.most = 1e+09}}};

/// The result of a probe.
struct ProbedEvent {
  static constexpr std::string_view tag_field = "event", tag = "probed";
  std::vector<Still> cpus{};
};
template <> inline constexpr auto fields_of<ProbedEvent> = std::tuple{
    Field{"cpus", &ProbedEvent::cpus, Presence::required}};

/// Keeps processors from halting, from now on: on each processor a thread spins that yields to all other threads.
struct AwakeCommand {
  static constexpr std::string_view tag_field = "command", tag = "awake";
  std::vector<int> cpus{};
  std::uint64_t limit_ns = 0;
};
template <> inline constexpr auto fields_of<AwakeCommand> = std::tuple{
    Field{"cpus", &AwakeCommand::cpus, Presence::optional, {.least = 0}},
    Field{"limit_ns", &AwakeCommand::limit_ns, Presence::optional, {.most = 8.64e+13}}};

/// The processors that are kept awake.
struct AwakeEvent {
  static constexpr std::string_view tag_field = "event", tag = "awake";
  std::vector<int> cpus{};
  std::optional<std::string> absent{};
};
template <> inline constexpr auto fields_of<AwakeEvent> = std::tuple{
    Field{"cpus", &AwakeEvent::cpus, Presence::optional, {.least = 0}},
    Field{"absent", &AwakeEvent::absent, Presence::optional}};

/// Records the threads that run on the processors, from now on.
struct WatchCommand {
  static constexpr std::string_view tag_field = "command", tag = "watch";
  std::vector<int> cpus{};
  std::vector<int> pids{};
};
template <> inline constexpr auto fields_of<WatchCommand> = std::tuple{
    Field{"cpus", &WatchCommand::cpus, Presence::required, {.least = 0}},
    Field{"pids", &WatchCommand::pids, Presence::required, {.least = 0}}};

/// The processes whose time on processors is recorded. Answers `watch` (WatchCommand).
struct WatchingEvent {
  static constexpr std::string_view tag_field = "event", tag = "watching";
  std::optional<WatchScope> scope{};
  std::optional<std::string> absent{};
};
template <> inline constexpr auto fields_of<WatchingEvent> = std::tuple{
    Field{"scope", &WatchingEvent::scope, Presence::optional}, Field{"absent", &WatchingEvent::absent, Presence::optional}};

/// Requests the records between two instants of CLOCK_MONOTONIC, and ends the watching.
struct SwitchesCommand {
  static constexpr std::string_view tag_field = "command", tag = "tell";
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};
template <> inline constexpr auto fields_of<SwitchesCommand> = std::tuple{
    Field{"from_ns", &SwitchesCommand::from_ns, Presence::required},
    Field{"to_ns", &SwitchesCommand::to_ns, Presence::required}};

/// How long other processes had one processor.
struct CpuOthers {
  int cpu = 0;
  std::uint64_t others_ns = 0;
};
template <> inline constexpr auto fields_of<CpuOthers> = std::tuple{
    Field{"cpu", &CpuOthers::cpu, Presence::required, {.least = 0}},
    Field{"others_ns", &CpuOthers::others_ns, Presence::required}};

/// The times during which other processes had the watched processors. Answers `tell` (SwitchesCommand).
struct SeenEvent {
  static constexpr std::string_view tag_field = "event", tag = "seen";
  std::optional<WatchScope> scope{};
  bool complete = false;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  std::vector<CpuOthers> cpus{};
  std::vector<Other> others{};
  std::vector<std::tuple<std::uint64_t, std::uint64_t, int>> spells{};
  std::uint64_t shorter = 0;
  std::uint64_t longest_of_the_shorter_ns = 0;
};
template <> inline constexpr auto fields_of<SeenEvent> = std::tuple{
    Field{"scope", &SeenEvent::scope, Presence::optional}, Field{"complete", &SeenEvent::complete, Presence::optional},
    Field{"records", &SeenEvent::records, Presence::optional}, Field{"lost", &SeenEvent::lost, Presence::optional},
    Field{"cpus", &SeenEvent::cpus, Presence::optional}, Field{"others", &SeenEvent::others, Presence::optional},
    Field{"spells", &SeenEvent::spells, Presence::optional}, Field{"shorter", &SeenEvent::shorter, Presence::optional},
    Field{"longest_of_the_shorter_ns", &SeenEvent::longest_of_the_shorter_ns, Presence::optional}};

using WitnessCommand = std::variant<ProbeCommand, AwakeCommand, WatchCommand, SwitchesCommand>;

using Event = std::variant<HelloEvent, PublishedEvent, ReadyEvent, TickEvent, MeasuringEvent, EndedEvent, PeersEvent, DoneEvent, ErrorEvent, ProbedEvent, AwakeEvent, WatchingEvent, SeenEvent>;

}  // namespace middlemark
