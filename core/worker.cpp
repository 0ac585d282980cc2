#include <middlemark/worker.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <middlemark/account.hpp>
#include <middlemark/control.hpp>
#include <middlemark/describe.hpp>
#include <middlemark/endpoints.hpp>
#include <middlemark/honour.hpp>
#include <middlemark/json.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_abandoned = 3;
constexpr int exit_stuck = 4;

/// Empty when the line is no command.
std::string command_name(const Json& command) {
  const bool named = command.is_object() && command.contains("command") && command["command"].is_string();
  return named ? command["command"].get<std::string>() : std::string();
}

/// What the adapter says of itself, which must be what its types say.
Description described(const WorkerParts& parts) {
  const Description about = parts.describe();
  const auto contradicts = [&about](const std::string& what) {
    throw std::logic_error(fmt::format("{}: describe() {}", about.name, what));
  };
  if (about.request_reply != parts.request_reply) {
    contradicts(parts.request_reply ? "does not say request_reply, but there are client() and server()"
                                    : "says request_reply, but there are no client() and server()");
  }
  for (const Transport& transport : about.transports) {
    if (!parts.listens && std::ranges::find(transport.receive, "listen") != transport.receive.end()) {
      contradicts(
          fmt::format("lists listen for {}, but not every subscriber has listen() and silence()", transport.name));
    }
    if (transport.companions && !parts.companions) {
      contradicts(fmt::format("says that {} needs companions, but there is no companions()", transport.name));
    }
  }
  return about;
}

/// Refuses what this adapter cannot do, before anything is opened.
void refuse_what_cannot_be_done(const Description& about, const WorkerParts& parts, const Settings& settings) {
  refuse_what_is_not_listed(about, settings);
  if (parts.check) parts.check(settings);
}

/// What the person at the launcher can mend: the place for the samples.
bool concerns_the_disk(const std::error_code& code) {
  switch (code.value()) {
    case EACCES:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOSPC:
    case ENOTDIR:
    case EPERM:
    case EROFS:
      return code.category() == std::generic_category();
    default:
      return false;
  }
}

/// The roles that have not ended, and how far those that receive have come.
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

ErrorEvent error_event(ErrorCode code, const std::string& text, const std::string& advice = {}) {
  ErrorEvent event;
  event.code = code;
  event.text = text;
  event.advice = advice;
  return event;
}

/// What a worker that cannot go on says of `error`.
ErrorEvent error_event(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ConfigurationError& wrong) {
    return error_event(ErrorCode::configure, wrong.what(),
                       "launcher and worker are of different versions: build both anew");
  } catch (const AdapterError& refused) {
    return error_event(ErrorCode::refused, refused.what(), refused.advice());
  } catch (const std::system_error& failed) {
    return error_event(concerns_the_disk(failed.code()) ? ErrorCode::disk : ErrorCode::internal, failed.what());
  } catch (const std::exception& failed) {
    return error_event(ErrorCode::internal, failed.what());
  }
}

/// The worker under the control protocol, one state after the other.
class ControlledWorker {
 public:
  explicit ControlledWorker(const WorkerParts& parts)
      : parts_(parts), clock_(Clock::calibrate(20, forced_monotonic())) {}

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
    if (command_name(command) != ConfigureCommand::tag) {
      throw ConfigurationError("expected a configure command");
    }
    Configuration configuration = parse_configuration(command);
    configuration.settings.endpoints = endpoints_of(configuration, parts_.request_reply);
    const Description about = parts_.describe();
    refuse_what_cannot_be_done(about, parts_, configuration.settings);
    place_process(configuration.placement);
    // A role that polls never yields to an equal: the threads the middleware starts now must stand above it.
    if (configuration.settings.reception == Reception::poll) raise_priority(configuration.placement, 1);
    // Threads inherit the name of the one that starts them: the middleware's, where it gives them none, are told apart so.
    pthread_setname_np(pthread_self(), about.name.substr(0, 15).c_str());
    session_ = parts_.open(configuration, clock_);
    pthread_setname_np(pthread_self(), "control");
    if (const int code = match(configuration.match_timeout_s, configuration.placement); code != 0) return code;
    raise_priority(configuration.placement, 1);
    serve();
    session_.reset();
    return 0;
  }

  /// Until every role has found its peers.
  int match(double timeout_s, const Placement& placement) {
    const std::uint64_t begin = monotonic_ns();
    const auto timeout = static_cast<std::uint64_t>(timeout_s * 1e9);
    for (;;) {
      const std::string missing = session_->waiting_for();
      if (missing.empty()) break;
      if (monotonic_ns() - begin > timeout) {
        send(error_event(ErrorCode::unmatched, fmt::format("{} within {} s", missing, timeout_s)));
        return exit_failed;
      }
      if (control_.receive(1ms)) return exit_failed;  // quit before ready
      if (control_.closed()) return exit_abandoned;
    }
    raise_priority(placement, 0);  // what is read back is the roles' own
    ReadyEvent ready;
    ready.discovery_ns = monotonic_ns() - begin;
    ready.placement = placed(placement);
    ready.notes = session_->notes();
    send(ready);
    return 0;
  }

  /// Commands and ticks until the launcher says quit or goes away.
  void serve() {
    const std::uint64_t no_start = 0;
    std::uint64_t started = no_start;
    std::uint64_t ticked = no_start;
    bool measuring = false;
    bool concluded = false;
    std::uint64_t stopped = 0;
    for (;;) {
      const int also = concluded || started == no_start ? -1 : session_->wake_descriptor();
      const auto line = control_.receive(until_tick(started, ticked, concluded), also);
      if (control_.closed()) _exit(exit_abandoned);
      session_->drain_wake();
      if (line) {
        const Json command = Json::parse(*line, nullptr, false);
        const std::string name = command_name(command);
        if (name == StartCommand::tag && started == no_start) {
          session_->start();
          started = monotonic_ns();
        } else if (name == StopCommand::tag) {
          session_->request_stop(read_message<StopCommand>(command).expected);
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
      if (started == no_start || concluded) continue;
      if (session_->ended()) {
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
      if (stopped != 0) abandon_if_stuck(stopped, stop_patience_s + (session_->draining() ? Drain::limit_s : 0));
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

  /// A role that does not come back from the middleware cannot be joined; the process ends without it.
  void abandon_if_stuck(std::uint64_t stopped, std::uint64_t patience_s) {
    if (monotonic_ns() > stopped + patience_s * 1'000'000'000) {
      const std::uint64_t before = received(*session_);
      const timespec tenth{0, 100'000'000};
      nanosleep(&tenth, nullptr);
      if (received(*session_) != before) {
        send(error_event(ErrorCode::hung,
                         fmt::format("{} still received {} s after the stop", still_running(*session_), patience_s),
                         "a history that is received faster: a smaller --depth, or an adapter that bounds its queue"));
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
  std::unique_ptr<Session> session_;
};

int print_companions(const WorkerParts& parts) {
  std::string line;
  std::getline(std::cin, line);
  const Json request = Json::parse(line, nullptr, false);
  Json answer;
  try {
    Configuration whole;
    whole.settings = parse_settings(request);
    whole.settings.endpoints = endpoints_of(whole, parts.request_reply);
    const Settings& settings = whole.settings;
    // Not parts.check(): which pongs echo is not known yet, and the workers ask it.
    refuse_what_is_not_listed(parts.describe(), settings);
    answer = companions_json(parts.companions ? parts.companions(settings) : std::vector<Companion>{});
  } catch (const std::exception& /*error*/) {
    answer = json_of(error_event(std::current_exception()));
  }
  std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  return answer.contains("companions") ? 0 : exit_failed;
}

}  // namespace

int worker_main(int argc, char** argv, const WorkerParts& parts) {
  guard_process();
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "--describe") {
    try {
      std::cout << describe_json(described(parts)).dump() << '\n';
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      return exit_failed;
    }
    return 0;
  }
  if (argument == "--companions") return print_companions(parts);
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::cerr
        << "This is a worker of Middlemark and speaks JSON lines with its launcher; people want `middlemark run`.\n"
           "  --describe     what it can do, as one line of JSON\n"
           "  --companions   the daemons a trial needs (settings as one line of JSON on stdin)\n";
    return exit_usage;
  }
  return ControlledWorker(parts).run();
}

}  // namespace middlemark
