// Cost of the probe's stamps, and of a bare reading of its clock, in ns: medians of many batches, measured alternately.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/probe.hpp>

namespace {

constexpr int batch = 1000, rounds = 400;

struct Compared {
  const char* name;
  std::function<void(std::uint64_t)> once;
  std::vector<double> ns{};
};

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(std::vector<Compared>& all) {
  for (int round = 0; round < rounds; ++round) {
    for (Compared& each : all) {
      const std::uint64_t begin = middlemark::monotonic_ns();
      for (std::uint64_t i = 0; i < batch; ++i) each.once(i);
      each.ns.push_back(static_cast<double>(middlemark::monotonic_ns() - begin) / batch);
    }
  }
}

}  // namespace

int main() {
  std::string folder = "/dev/shm/probe-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return std::perror("/dev/shm"), 1;
  using middlemark::probe::Probe, middlemark::probe::Topic, middlemark::probe::Span;
  setenv("MIDDLEMARK_PROBE", folder.c_str(), 1);
  setenv("MIDDLEMARK_PROBE_RECORDS", "4000000", 1);
  const Topic topic = Probe("bench").topic("t");
  std::uint64_t sum = 0;
  std::vector<Compared> all{
      {"no call", [&sum](std::uint64_t i) { sum += i; }},
      {"clock alone", [&sum](std::uint64_t) { sum += mm_ticks(); }},
      {"sent", [topic](std::uint64_t i) { topic.sent(i, 64); }},
      {"received", [topic](std::uint64_t i) { topic.received(i); }},
      {"span (two readings)", [topic](std::uint64_t) { const Span span = topic.span(); }},
      {"of no probe", [](std::uint64_t i) { Topic().sent(i, 64); }},
  };
  measure(all);
  for (Compared& each : all) std::printf("%-20s %6.1f ns\n", each.name, median(each.ns));
  std::filesystem::remove_all(folder);
  return sum == 0 ? 1 : 0;
}
