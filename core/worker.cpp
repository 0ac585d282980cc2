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

#include <nlohmann/json.hpp>

#include <middlemark/control.hpp>
#include <middlemark/describe.hpp>
#include <middlemark/events.hpp>
#include <middlemark/honour.hpp>

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

/// A described key that ends in '*' stands for all that begin so.
bool accepts(const Description& about, const std::string& key) {
  return about.native.contains(key) || std::ranges::any_of(about.native, [&key](const auto& described) {
           const std::string& name = described.first;
           return name.ends_with('*') && key.starts_with(name.substr(0, name.size() - 1));
         });
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

/// The worker under the control protocol, one state after the other.
class ControlledWorker {
 public:
  explicit ControlledWorker(const WorkerParts& parts)
      : parts_(parts), clock_(Clock::calibrate(20, forced_monotonic())) {}

  int run() {
    const Description about = parts_.describe();
    control_.send({{"event", "hello"},
                   {"protocol", protocol_version},
                   {"adapter", about.name},
                   {"version", about.version},
                   {"pid", getpid()},
                   {"clock",
                    {{"source", clock_.source_name()},
                     {"ticks_per_second", clock_.ticks_per_second()},
                     {"cost_ns", clock_.cost_ns()},
                     {"resolution_ns", clock_.resolution_ns()}}}});
    try {
      return converse();
    } catch (const ConfigurationError& error) {
      control_.send(
          error_event("configure", error.what(), "launcher and worker are of different versions: build both anew"));
    } catch (const AdapterError& error) {
      control_.send(error_event("refused", error.what(), error.advice()));
    } catch (const std::system_error& error) {
      control_.send(error_event(concerns_the_disk(error.code()) ? "disk" : "internal", error.what()));
    } catch (const std::exception& error) {
      control_.send(error_event("internal", error.what()));
    }
    return exit_failed;
  }

 private:
  static bool forced_monotonic() {
    const char* forced = std::getenv("MIDDLEMARK_CLOCK");
    return forced != nullptr && std::string_view(forced) == "monotonic";
  }

  int converse() {
    const auto line = control_.receive(1h);
    if (!line) return exit_abandoned;
    const Json command = Json::parse(*line, nullptr, false);
    if (command_name(command) != "configure") {
      throw ConfigurationError("expected a configure command");
    }
    const Configuration configuration = parse_configuration(command);
    const Description about = parts_.describe();
    refuse_what_is_not_listed(about, configuration.settings);
    for (const auto& [key, value] : configuration.settings.native) {
      if (!accepts(about, key)) {
        throw AdapterError(fmt::format("{}: native.{} is not a setting of this adapter", about.name, key),
                           "`middlemark list adapters --verbose` names them");
      }
    }
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
        control_.send(error_event("unmatched", fmt::format("{} within {} s", missing, timeout_s)));
        return exit_failed;
      }
      if (control_.receive(1ms)) return exit_failed;  // quit before ready
      if (control_.closed()) return exit_abandoned;
    }
    raise_priority(placement, 0);  // what is read back is the roles' own
    const Placed where = placed(placement);
    control_.send(
        {{"event", "ready"},
         {"discovery_ns", monotonic_ns() - begin},
         {"placement",
          {{"cpus", where.cpus}, {"policy", where.policy}, {"priority", where.priority}, {"mlocked", where.mlocked}}},
         {"notes", session_->notes()}});
    return 0;
  }

  /// Commands and ticks until the launcher says quit or goes away.
  void serve() {
    const std::uint64_t no_start = 0;
    std::uint64_t started = no_start;
    std::uint64_t ticked = no_start;
    bool measuring = false;
    bool concluded = false;
    std::uint64_t stop_by = 0;
    for (;;) {
      const int also = concluded || started == no_start ? -1 : session_->wake_descriptor();
      const auto line = control_.receive(until_tick(started, ticked, concluded), also);
      if (control_.closed()) _exit(exit_abandoned);
      session_->drain_wake();
      if (line) {
        const Json command = Json::parse(*line, nullptr, false);
        const std::string name = command_name(command);
        if (name == "start" && started == no_start) {
          session_->start();
          started = monotonic_ns();
        } else if (name == "stop") {
          const std::uint64_t expected = expected_of(command);
          session_->request_stop(expected);
          stop_by = monotonic_ns() + stop_patience_ns + (expected == nothing_expected ? 0 : Drain::limit_ns);
        } else if (name == "quit") {
          if (started != no_start && !concluded) {
            session_->request_stop();
            stop_by = monotonic_ns() + stop_patience_ns;
            while (!session_->ended()) abandon_if_stuck(stop_by);
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
        Json event = account_.read(*session_);
        event["event"] = "measuring";
        control_.send(event);
      }
      if (ticked == no_start || monotonic_ns() - ticked >= tick_ns) {
        ticked = monotonic_ns();
        tick(started);
      }
      if (stop_by != 0) abandon_if_stuck(stop_by);
    }
  }

  static constexpr std::uint64_t stop_patience_ns = 3'000'000'000;
  static constexpr std::uint64_t tick_ns = 1'000'000'000;

  static std::chrono::milliseconds until_tick(std::uint64_t started, std::uint64_t ticked, bool concluded) {
    if (started == 0 || concluded) return 1s;
    if (ticked == 0) return 0ms;
    const std::uint64_t due = ticked + tick_ns;
    const std::uint64_t now = monotonic_ns();
    return std::chrono::milliseconds(due > now ? (due - now) / 1'000'000 + 1 : 0);
  }

  static std::uint64_t expected_of(const Json& command) {
    if (!command.contains("expected") || command["expected"].is_null()) return nothing_expected;
    if (!command["expected"].is_number_unsigned())
      throw ConfigurationError("stop.expected: must be a number of messages");
    return command["expected"].get<std::uint64_t>();
  }

  /// A role that does not come back from the middleware cannot be joined; the process ends without it.
  void abandon_if_stuck(std::uint64_t stop_by) {
    if (monotonic_ns() > stop_by) {
      control_.send(
          error_event("hung", fmt::format("{}: the role did not return from the middleware within 3 s of its stop",
                                          session_->leading().name())));
      _exit(exit_stuck);
    }
    const timespec pause{0, 1'000'000};
    if (!session_->ended()) nanosleep(&pause, nullptr);
  }

  void tick(std::uint64_t started) {
    const Progress& progress = session_->leading().progress;
    Json event = account_.read(*session_);
    event.update({{"event", "tick"},
                  {"role", session_->leading().kind},
                  {"phase", phase_name(progress.phase.load(std::memory_order_relaxed))},
                  {"samples", progress.samples.load(std::memory_order_relaxed)},
                  {"elapsed_s", static_cast<double>(monotonic_ns() - started) / 1e9}});
    control_.send(event);
  }

  void conclude() {
    Json done = account_.read(*session_);
    done.update({{"event", "done"}, {"role", session_->leading().kind}});
    control_.send(done);
    for (const RoleResult& result : session_->conclude()) {
      if (!result.error_code.empty())
        control_.send(error_event(result.error_code, result.error_text, result.last_error));
      control_.send(result_event(result));
    }
  }

  const WorkerParts& parts_;
  Control control_;
  Clock clock_;
  Account account_;
  std::unique_ptr<Session> session_;
};

int print_companions(const WorkerParts& parts) {
  std::string line;
  std::getline(std::cin, line);
  const Json request = Json::parse(line, nullptr, false);
  Json answer;
  try {
    const Settings settings = parse_settings(request.is_object() ? request.value("settings", Json()) : Json());
    answer = companions_json(parts.companions ? parts.companions(settings) : std::vector<Companion>{});
  } catch (const AdapterError& error) {
    answer = error_event("refused", error.what(), error.advice());
  } catch (const std::exception& error) {
    answer = error_event("internal", error.what());
  }
  std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  return answer.contains("companions") ? 0 : exit_failed;
}

}  // namespace

int worker_main(int argc, char** argv, const WorkerParts& parts) {
  guard_process();
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "--describe") {
    std::cout << describe_json(parts.describe()).dump() << '\n';
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
