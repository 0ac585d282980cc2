// middlemark-witness: reports which other processes use the roles' processors while a trial runs. It exchanges lines of
// JSON with the launcher, like a worker: docs/reference/protocol.md.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/control.hpp>
#include <middlemark/json.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/witness/awake.hpp>
#include <middlemark/witness/gaps.hpp>
#include <middlemark/witness/switches.hpp>

namespace {

using Json = nlohmann::json;
using namespace middlemark;
using namespace middlemark::witness;

constexpr std::size_t most_spells_listed = 2000;  ///< spells reported individually
constexpr std::size_t most_named = 8;             ///< processes reported by name
constexpr std::uint64_t longest_life_s = 24 * 3600;

DurationCounts counts_of(const Durations& measured) {
  DurationCounts durations{measured.total_ns(), measured.longest_ns(), {}};
  for (std::size_t bucket = 0; bucket < Durations::buckets; ++bucket) {
    if (measured.count(bucket) > 0) durations.counts.emplace_back(Durations::lower_ns(bucket), measured.count(bucket));
  }
  return durations;
}

/// Executes the launcher's commands. Throws if a command fails.
class Witness {
 public:
  [[nodiscard]] Json operator()(const ProbeCommand& command) {
    ProbedEvent event;
    for (const Stillness& found : probe({command.cpus, command.sleeping, command.duration_ns})) {
      event.cpus.push_back({found.cpu, found.spun_ns, counts_of(found.gaps), counts_of(found.taken), found.wakes,
                            counts_of(found.late), found.waited_ns});
    }
    return json_of(event);
  }

  [[nodiscard]] Json operator()(const AwakeCommand& command) {
    AwakeEvent event;
    awake_.reset();
    if (command.cpus.empty()) return json_of(event);
    try {
      awake_.emplace(command.cpus, command.limit_ns);
      event.cpus = command.cpus;
    } catch (const std::exception& error) {
      event.absent = error.what();
    }
    return json_of(event);
  }

  [[nodiscard]] Json operator()(const WatchCommand& command) {
    WatchingEvent event;
    watch_.reset();
    try {
      watch_ = std::make_unique<SwitchWatch>(command.cpus, command.pids);
      event.scope = watch_->scope();
    } catch (const std::system_error& error) {
      event.absent = error.what();
    }
    return json_of(event);
  }

  [[nodiscard]] Json operator()(const SwitchesCommand& command) {
    SeenEvent event;
    if (watch_) {
      watch_->stop();
      event.scope = watch_->scope();
      event.complete = watch_->complete();
      event.records = watch_->records();
      event.lost = watch_->lost();
      fill(event, watch_->seen(command.from_ns, command.to_ns, most_spells_listed));
      watch_.reset();
    }
    return json_of(event);
  }

  /// Becomes readable when drain() should be called; -1 if nothing is watched.
  [[nodiscard]] int descriptor() const { return watch_ ? watch_->descriptor() : -1; }
  void drain() {
    if (watch_) watch_->drain();
  }

 private:
  void fill(SeenEvent& event, const Seen& seen) const {
    for (const auto& [cpu, ns] : seen.others_ns) event.cpus.push_back({cpu, ns});
    std::vector<std::pair<pid_t, std::uint64_t>> by_pid(seen.by_pid_ns.begin(), seen.by_pid_ns.end());
    std::ranges::sort(by_pid, std::greater{}, &std::pair<pid_t, std::uint64_t>::second);
    by_pid.resize(std::min(by_pid.size(), most_named));
    for (const auto& [pid, ns] : by_pid) {
      Other other;
      if (pid != somebody) other.pid = pid;
      if (const std::string name = watch_->name(pid); !name.empty()) other.name = name;
      other.ns = ns;
      event.others.push_back(other);
    }
    for (const Spell& spell : seen.longest) event.spells.emplace_back(spell.from_ns, spell.to_ns, spell.cpu);
    event.shorter = seen.shorter;
    event.longest_of_the_shorter_ns = seen.longest_of_the_shorter_ns;
  }

  std::unique_ptr<SwitchWatch> watch_;
  std::optional<Awake> awake_;
};

Json answer(Witness& witness, const std::string& line) {
  try {
    return std::visit(witness, read_message<WitnessCommand>(Json::parse(line, nullptr, false)));
  } catch (const std::exception& error) {
    ErrorEvent event;
    event.code = ErrorCode::internal;
    event.text = error.what();
    return json_of(event);
  }
}

int serve() {
  Control control;
  Witness witness;
  const std::uint64_t end = monotonic_ns() + longest_life_s * 1'000'000'000;
  while (monotonic_ns() < end) {
    const auto line = control.receive(std::chrono::hours(1), witness.descriptor());
    if (control.closed()) return 0;
    if (line == R"({"command":"quit"})") return 0;
    if (line) {
      control.send(answer(witness, *line));
    } else {
      witness.drain();
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** /*argv*/) {
  guard_process();
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::cerr << "This is the witness of Middlemark, which `middlemark run` starts and controls with lines of JSON.\n";
    return 2;
  }
  try {
    return serve();
  } catch (const std::exception& error) {
    std::cerr << "middlemark-witness: " << error.what() << '\n';
    return 1;
  }
}
