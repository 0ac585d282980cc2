// middlemark-witness: what the machine does while a trial runs. One JSON object a line, as the workers do: docs/protocol.md.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include <middlemark/clock.hpp>
#include <middlemark/control.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/settings.hpp>
#include <middlemark/witness/gaps.hpp>
#include <middlemark/witness/switches.hpp>

namespace {

using Json = nlohmann::json;
using namespace middlemark;
using namespace middlemark::witness;

constexpr std::size_t most_told = 2000;  ///< spells one by one
constexpr std::size_t most_named = 8;    ///< processes
constexpr std::uint64_t longest_life_s = 24 * 3600;

Json durations(const Durations& of) {
  Json counts = Json::array();
  for (std::size_t bucket = 0; bucket < Durations::buckets; ++bucket) {
    if (of.count(bucket) > 0) counts.push_back({Durations::lower_ns(bucket), of.count(bucket)});
  }
  return {{"total_ns", of.total_ns()}, {"longest_ns", of.longest_ns()}, {"counts", counts}};
}

Json probed(const Json& command) {
  const ProbeRequest request{command.at("cpus").get<std::vector<int>>(), command.value("sleeping", std::vector<int>{}),
                             command.at("duration_ns").get<std::uint64_t>()};
  Json cpus = Json::array();
  for (const Stillness& each : probe(request)) {
    cpus.push_back({{"cpu", each.cpu},
                    {"spun_ns", each.spun_ns},
                    {"gaps", durations(each.gaps)},
                    {"taken", durations(each.taken)},
                    {"wakes", each.wakes},
                    {"waited_ns", each.waited_ns},
                    {"late", durations(each.late)}});
  }
  return {{"event", "probed"}, {"cpus", cpus}};
}

Json watching(std::unique_ptr<SwitchWatch>& watch, const Json& command) {
  watch.reset();
  try {
    watch = std::make_unique<SwitchWatch>(command.at("cpus").get<std::vector<int>>(),
                                          command.at("pids").get<std::vector<pid_t>>());
  } catch (const std::system_error& error) {
    return {{"event", "watching"}, {"scope", nullptr}, {"absent", error.what()}};
  }
  return {{"event", "watching"},
          {"scope", watch->scope() == Scope::processors ? "processors" : "workers"},
          {"absent", nullptr}};
}

Json others(const SwitchWatch& watch, const Seen& seen) {
  std::vector<std::pair<pid_t, std::uint64_t>> by_pid(seen.by_pid_ns.begin(), seen.by_pid_ns.end());
  std::ranges::sort(by_pid, std::greater{}, &std::pair<pid_t, std::uint64_t>::second);
  by_pid.resize(std::min(by_pid.size(), most_named));
  Json told = Json::array();
  for (const auto& [pid, ns] : by_pid) {
    const std::string name = watch.name(pid);
    told.push_back({{"pid", pid == somebody ? Json(nullptr) : Json(pid)},
                    {"name", name.empty() ? Json(nullptr) : Json(name)},
                    {"ns", ns}});
  }
  return told;
}

Json told(std::unique_ptr<SwitchWatch>& watch, const Json& command) {
  if (!watch) return {{"event", "seen"}, {"scope", nullptr}};
  watch->stop();
  const Seen seen =
      watch->seen(command.at("from_ns").get<std::uint64_t>(), command.at("to_ns").get<std::uint64_t>(), most_told);
  Json cpus = Json::array();
  for (const auto& [cpu, ns] : seen.others_ns) cpus.push_back({{"cpu", cpu}, {"others_ns", ns}});
  Json spells = Json::array();
  for (const Spell& spell : seen.longest) spells.push_back({spell.from_ns, spell.to_ns, spell.cpu});
  Json event{{"event", "seen"},
             {"scope", watch->scope() == Scope::processors ? "processors" : "workers"},
             {"complete", watch->complete()},
             {"records", watch->records()},
             {"lost", watch->lost()},
             {"cpus", cpus},
             {"others", others(*watch, seen)},
             {"spells", spells},
             {"shorter", seen.shorter},
             {"longest_of_the_shorter_ns", seen.longest_of_the_shorter_ns}};
  watch.reset();
  return event;
}

Json refusal(const std::string& text) { return {{"event", "error"}, {"text", text}}; }

Json answer(std::unique_ptr<SwitchWatch>& watch, const std::string& line) {
  const Json command = Json::parse(line, nullptr, false);
  if (!command.is_object() || !command.contains("command")) return refusal("not a command: " + line);
  try {
    const auto name = command.at("command").get<std::string>();
    if (name == "probe") return probed(command);
    if (name == "watch") return watching(watch, command);
    if (name == "tell") return told(watch, command);
    return refusal("unknown command: " + name);
  } catch (const std::exception& error) {
    return refusal(error.what());
  }
}

int serve() {
  Control control;
  std::unique_ptr<SwitchWatch> watch;
  const std::uint64_t end = monotonic_ns() + longest_life_s * 1'000'000'000;
  while (monotonic_ns() < end) {
    const auto line = control.receive(std::chrono::hours(1), watch ? watch->descriptor() : -1);
    if (control.closed()) return 0;
    if (line == R"({"command":"quit"})") return 0;
    if (line) {
      control.send(answer(watch, *line));
    } else if (watch) {
      watch->drain();
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** /*argv*/) {
  guard_process();
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::cerr
        << "This is the witness of Middlemark and speaks JSON lines with its launcher; people want `middlemark run`.\n";
    return 2;
  }
  try {
    return serve();
  } catch (const std::exception& error) {
    std::cerr << "middlemark-witness: " << error.what() << '\n';
    return 1;
  }
}
