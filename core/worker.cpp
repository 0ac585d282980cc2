#include <middlemark/worker.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <fmt/format.h>

#include <middlemark/account.hpp>
#include <middlemark/asked.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/control.hpp>
#include <middlemark/crowd.hpp>
#include <middlemark/json.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr int exit_usage = 2;
constexpr int exit_abandoned = 3;
constexpr int exit_stuck = 4;

/// Returns the names of the roles that have not ended, with the progress of receivers.
std::string still_running(const Session& session) {
  std::string names;
  for (const auto& role : session.roles()) {
    const Progress& progress = role->progress;
    if (progress.phase.load() == Phase::ended) continue;
    names += (names.empty() ? "" : ", ") + role->name();
    if (role->part != Role::Part::drains) continue;
    const std::uint64_t expected = progress.expected.load();
    names += fmt::format(" (received {}", progress.received.load());
    names += expected == nothing_expected ? ")" : fmt::format(" of {})", expected);
  }
  return names;
}

std::uint64_t received(const Session& session) {
  std::uint64_t messages = 0;
  for (const auto& role : session.roles()) messages += role->progress.received.load();
  return messages;
}

/// Reports the peers of a crowd's participants while the phase asks for it.
class PeerWatch {
 public:
  void begin(Session& session, const CrowdCommand& command) {
    session.enter(command);
    watches_ = command.phase == CrowdPhase::storm || command.phase == CrowdPhase::leave;
    last_.reset();
  }
  /// Returns the time between two looks at the peers.
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept { return watches_ ? 10ms : 1s; }
  /// Returns the event to send if a number has changed since the last call, or at the first call of a phase.
  [[nodiscard]] std::optional<PeersEvent> changed(const Session& session) {
    if (!watches_) return std::nullopt;
    std::vector<Peers> peers = session.peers();
    if (last_ && std::ranges::equal(*last_, peers, {}, &Peers::found, &Peers::found)) return std::nullopt;
    last_ = peers;
    return PeersEvent{.at_ns = monotonic_ns(), .participants = std::move(peers)};
  }

 private:
  bool watches_ = false;
  std::optional<std::vector<Peers>> last_;
};

/// A worker that is controlled by the launcher, from hello to quit: docs/reference/protocol.md.
class ControlledWorker {
 public:
  explicit ControlledWorker(const WorkerParts& parts)
      : parts_(parts), clock_(Clock::calibrate(20, forced_monotonic())) {
    CodingTimes::clock = clock_;
  }

  int run() {
    const Description about = described(parts_);
    HelloEvent hello;
    hello.protocol = protocol_version;
    hello.adapter = about.name;
    hello.version = about.version;
    hello.pid = getpid();
    hello.clock = {clock_.source_name(), clock_.ticks_per_second(), clock_.cost_ns(), clock_.resolution_ns()};
    send(hello);
    try {
      return converse();
    } catch (const std::exception& /*error*/) {
      send(error_event(std::current_exception()));
    }
    return exit_failed;
  }

 private:
  static bool forced_monotonic() {
    const char* forced = std::getenv("MIDDLEMARK_CLOCK");
    return forced != nullptr && std::string_view(forced) == "monotonic";
  }

  template <class Event>
  void send(const Event& event) {
    control_.send(json_of(event));
  }

  int converse() {
    const auto line = control_.receive(1h);
    if (!line) return exit_abandoned;
    const Json command = Json::parse(*line, nullptr, false);
    const Description about = parts_.describe();
    const Configuration configuration = accepted(command, about, parts_);
    place_process(configuration.placement);
    // The middleware's threads inherit this priority. They need a higher one than the roles, because a role that polls
    // never yields to a thread of equal priority.
    if (configuration.settings.reception == Reception::poll) raise_priority(configuration.placement, 1);
    // Threads inherit their creator's name, so unnamed threads of the middleware get the adapter's name.
    pthread_setname_np(pthread_self(), about.name.substr(0, 15).c_str());
    const std::uint64_t opening = monotonic_ns();
    session_ = configuration.settings.pattern == Pattern::crowd ? crowd_opener()(configuration, clock_)
                                                                : parts_.open(configuration, clock_);
    opening_ns_ = monotonic_ns() - opening;
    pthread_setname_np(pthread_self(), "control");
    const auto has_history = [](const TopicRequest& topic) { return topic.history > 0; };
    if (std::ranges::any_of(configuration.settings.topics, has_history)) {
      if (const int code = join_late(); code != 0) return code;
    }
    const bool crowd = session_->run_early();
    if (const int code = match(configuration.match_timeout_s, configuration.placement, crowd); code != 0) return code;
    raise_priority(configuration.placement, 1);
    serve();
    session_.reset();
    return 0;
  }

  /// Publishes the histories, waits until all workers have done so, then opens the subscribers that join late.
  int join_late() {
    session_->publish_histories();
    send(PublishedEvent{});
    const auto line = control_.receive(1h);
    if (!line) return exit_abandoned;
    if (command_name(Json::parse(*line, nullptr, false)) != JoinCommand::tag) return exit_failed;  // quit
    session_->join_late();
    return 0;
  }

  /// Waits until every role has found its peers, and until the late joiners have received the whole history or no more
  /// of it arrives. Then reports ready. In a crowd, peers that were not found in time are a result and not an error.
  int match(double timeout_s, const Placement& placement, bool crowd) {
    const std::uint64_t begin = monotonic_ns();
    const auto timeout = static_cast<std::uint64_t>(timeout_s * 1e9);
    ReadyEvent ready;
    for (;;) {
      const std::string missing = session_->waiting_for();
      if (missing.empty()) {
        if (ready.discovery_ns == 0) ready.discovery_ns = monotonic_ns() - begin;
        if (!session_->history_incomplete()) break;
      } else if (monotonic_ns() - begin > timeout) {
        if (crowd) break;
        const std::string refusals = session_->refusals();
        const std::string why = refusals.empty() ? "" : "; the middleware reports: " + refusals;
        send(error_event(ErrorCode::unmatched, fmt::format("{} within {} s{}", missing, timeout_s, why),
                         "measure again on a quieter machine, or set a longer match_timeout in a suite; the adapter's "
                         "README.md says why peers of this middleware may not find each other"));
        return exit_failed;
      }
      // The workers of a crowd would take the processors from each other if all of them looked every millisecond.
      const bool long_wait = crowd && monotonic_ns() - begin > 100'000'000;
      if (control_.receive(long_wait ? 10ms : 1ms)) return exit_failed;  // quit before ready
      if (control_.closed()) return exit_abandoned;
    }
    raise_priority(placement, 0);  // placed() below must report the priority of the roles
    ready.opening_ns = opening_ns_;
    ready.placement = placed(placement);
    ready.notes = session_->notes();
    ready.protected_by = session_->protected_by();
    const SharedSegment segment = session_->shared_segment();
    ready.segment_bytes = segment.bytes;
    ready.segment_setting = segment.setting;
    ready.settings = session_->own_settings();
    send(ready);
    return 0;
  }

  /// Handles commands and sends tick events until the launcher sends quit or goes away.
  void serve() {
    const std::uint64_t no_start = 0;
    std::uint64_t started = no_start;
    std::uint64_t ticked = no_start;
    bool measuring = false;
    bool concluded = false;
    std::uint64_t stopped = 0;
    for (;;) {
      const int wake = concluded || started == no_start ? -1 : session_->wake_descriptor();
      const auto line = control_.receive(std::min(until_tick(started, ticked, concluded), watch_.pause()), wake);
      if (control_.closed()) _exit(exit_abandoned);
      session_->drain_wake();
      if (line) {
        const Json command = Json::parse(*line, nullptr, false);
        const std::string name = command_name(command);
        if (name == StartCommand::tag && started == no_start) {
          session_->start();
          started = monotonic_ns();
        } else if (name == CrowdCommand::tag) {
          watch_.begin(*session_, read_message<CrowdCommand>(command));
        } else if (name == StopCommand::tag) {
          const auto stop = read_message<StopCommand>(command);
          if (stop.subscribers.empty()) {
            session_->request_stop(stop.expected);
          } else {
            session_->request_stop(stop.subscribers, stop.expected);
          }
          stopped = monotonic_ns();
        } else if (name == QuitCommand::tag) {
          if (started != no_start && !concluded) {
            session_->request_stop();
            stopped = monotonic_ns();
            while (!session_->ended()) abandon_if_stuck(stopped, stop_patience_s);
          }
          return;
        } else {
          throw ConfigurationError(fmt::format("unexpected command \"{}\"", name));
        }
      }
      if (const auto peers = watch_.changed(*session_)) send(*peers);
      if (started == no_start || concluded) continue;
      const bool ended = session_->ended();  // read before new_ends(), which then returns all roles that have ended
      for (const EndedEvent& ended_role : session_->new_ends()) send(ended_role);
      if (ended) {
        conclude();
        concluded = true;
        continue;
      }
      if (!measuring && session_->measures()) {
        measuring = true;
        send(MeasuringEvent{account_.read(*session_)});
      }
      if (ticked == no_start || monotonic_ns() - ticked >= tick_ns) {
        ticked = monotonic_ns();
        tick(started);
      }
      if (stopped != 0 && session_->all_stopping())
        abandon_if_stuck(stopped, stop_patience_s + (session_->drains() ? Drain::limit_s : 0));
    }
  }

  static constexpr std::uint64_t stop_patience_s = 3;
  static constexpr std::uint64_t tick_ns = 1'000'000'000;

  static std::chrono::milliseconds until_tick(std::uint64_t started, std::uint64_t ticked, bool concluded) {
    if (started == 0 || concluded) return 1s;
    if (ticked == 0) return 0ms;
    const std::uint64_t due = ticked + tick_ns;
    const std::uint64_t now = monotonic_ns();
    return std::chrono::milliseconds(due > now ? (due - now) / 1'000'000 + 1 : 0);
  }

  /// Ends the process if a role still runs `patience_s` seconds after the stop, because joining its thread would never
  /// return. Otherwise sleeps for a moment.
  void abandon_if_stuck(std::uint64_t stopped, std::uint64_t patience_s) {
    if (monotonic_ns() > stopped + patience_s * 1'000'000'000) {
      const std::uint64_t before = received(*session_);
      const timespec tenth{0, 100'000'000};
      nanosleep(&tenth, nullptr);
      if (received(*session_) != before) {
        send(error_event(ErrorCode::hung,
                         fmt::format("{} still received {} s after the stop", still_running(*session_), patience_s),
                         "use a smaller --depth, so that fewer messages wait at the end"));
      } else {
        send(error_event(ErrorCode::hung, fmt::format("{} did not return from the middleware within {} s of the stop",
                                                      still_running(*session_), patience_s)));
      }
      _exit(exit_stuck);
    }
    const timespec pause{0, 1'000'000};
    if (!session_->ended()) nanosleep(&pause, nullptr);
  }

  void tick(std::uint64_t started) {
    const Role& leading = session_->leading();
    TickEvent tick{account_.read(*session_)};
    tick.role = leading.kind;
    tick.phase = leading.progress.phase.load(std::memory_order_relaxed);
    tick.samples = leading.progress.samples.load(std::memory_order_relaxed);
    tick.elapsed_s = static_cast<double>(monotonic_ns() - started) / 1e9;
    send(tick);
  }

  void conclude() {
    DoneEvent done{account_.read(*session_)};
    done.role = session_->leading().kind;
    send(done);
    for (const Concluded& role : session_->conclude()) {
      if (role.failure) send(*role.failure);
      std::visit([this](const auto& result) { send(result); }, role.result);
    }
  }

  const WorkerParts& parts_;
  Control control_;
  Clock clock_;
  AccountReader account_;
  PeerWatch watch_;
  std::unique_ptr<Session> session_;
  std::uint64_t opening_ns_ = 0;
};

/// Runs the adapter's own companion. The process keeps the priority and the timer slack of other daemons.
int run_companion(const WorkerParts& parts, const std::string& file) {
  signal(SIGPIPE, SIG_IGN);
  try {
    parts.run_companion(file);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return exit_failed;
}

}  // namespace

int worker_main(int argc, char** argv, const WorkerParts& parts) {
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "--companion" && argc == 3 && parts.run_companion) return run_companion(parts, argv[2]);
  guard_process();
  if (argument == "--describe") return print_description(parts);
  if (argument == "--companions") return print_companions(parts);
  if (argument == "--check") return print_refusals(parts);
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::cerr << "This is a worker of Middlemark, which `middlemark run` starts and controls with lines of JSON.\n"
                 "  --describe     print what it supports, as one line of JSON\n"
                 "  --companions   print the daemons that a trial needs (stdin: its settings, as one line of JSON)\n"
                 "  --companion FILE   run the companion that FILE configures, if the adapter brings one\n"
                 "  --check        print the error of each trial that it refuses, or null (stdin: a configure command "
                 "per line)\n";
    return exit_usage;
  }
  return ControlledWorker(parts).run();
}

}  // namespace middlemark
