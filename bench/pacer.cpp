// Punctuality of the pacer, pinned and polling, at 1, 10 and 100 kHz: the time from the intended instant to the
// beginning of a publish. It alternates with a loop on the same processor that only reads the clock and records gaps,
// in which the machine took the processor away. A message that is due in a gap is late by the rest of the gap. So for
// any sender, gaps of lengths g within a time T delay a share sum(max(0, g - x)) / T of its messages by more than x.
//
//   p99          of all messages
//   of the gaps  p99 of a sender that is late only because of the gaps
//   outside      the smallest x with at most 1 % of the messages later than x for other reasons than the gaps
//
//   pacer [SECONDS [CPU]]   seconds of pacing (and of recording gaps) per rate
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/pacer.hpp>
#include <middlemark/placement.hpp>

namespace {

using namespace middlemark;

constexpr double beyond_p99 = 0.01;
constexpr double goal_us = 5;
constexpr std::uint64_t shortest_gap_ns = 1'000;
constexpr double round_s = 0.02;  // short, so that both loops see the same noise of the machine

void pace(const Clock& clock, double rate_hz, std::vector<double>& late_us) {
  Load load;
  load.kind = LoadKind::rate;
  load.rate_hz = rate_hz;
  const StopSignal stop;
  Pacer pacer(clock, load, true);
  pacer.start(clock.ticks());
  for (auto messages = static_cast<std::uint64_t>(rate_hz * round_s); messages > 0; --messages) {
    const std::uint64_t intended = pacer.next();
    pacer.wait(intended, stop);
    const std::uint64_t sent = clock.ticks();
    const std::uint64_t apart = sent > intended ? sent - intended : intended - sent;
    late_us.push_back(static_cast<double>(clock.to_ns(apart)) / 1e3);
  }
}

/// Reads the clock for one round and appends the gaps to `gaps_us`. Returns how long this took, in s.
double watch(const Clock& clock, std::vector<double>& gaps_us) {
  const std::uint64_t begin = clock.ticks();
  const std::uint64_t end = begin + clock.to_ticks(static_cast<std::uint64_t>(round_s * 1e9));
  const std::uint64_t shortest = clock.to_ticks(shortest_gap_ns);
  std::uint64_t previous = begin;
  while (previous < end) {
    const std::uint64_t now = clock.ticks();
    if (now - previous > shortest) gaps_us.push_back(static_cast<double>(clock.to_ns(now - previous)) / 1e3);
    previous = now;
  }
  return static_cast<double>(clock.to_ns(previous - begin)) / 1e9;
}

/// Computes the share of messages that are late by more than x only because of the gaps. Both vectors are sorted and
/// not empty.
class Gaps {
 public:
  Gaps(std::vector<double> sorted_us, double watched_s) : us_(std::move(sorted_us)), watched_us_(watched_s * 1e6) {
    longer_sum_.resize(us_.size() + 1);
    for (std::size_t i = us_.size(); i-- > 0;) longer_sum_[i] = longer_sum_[i + 1] + us_[i];
  }
  [[nodiscard]] double later_than(double x_us) const {
    const auto first = static_cast<std::size_t>(std::upper_bound(us_.begin(), us_.end(), x_us) - us_.begin());
    return (longer_sum_[first] - x_us * static_cast<double>(us_.size() - first)) / watched_us_;
  }
  /// Returns the smallest x that at most 1 % of the messages exceed, to a thousandth of a µs.
  [[nodiscard]] double p99() const {
    double low = 0;
    double high = longest();
    while (high - low > 1e-3) (later_than((low + high) / 2) > beyond_p99 ? low : high) = (low + high) / 2;
    return high;
  }
  [[nodiscard]] double longest() const { return us_.empty() ? 0 : us_.back(); }
  [[nodiscard]] double a_second() const { return static_cast<double>(us_.size()) * 1e6 / watched_us_; }

 private:
  std::vector<double> us_;
  std::vector<double> longer_sum_;
  double watched_us_;
};

double outside(const std::vector<double>& sorted_late_us, const Gaps& gaps) {
  const auto messages = static_cast<double>(sorted_late_us.size());
  for (std::size_t i = 0; i < sorted_late_us.size(); ++i) {
    const double later = static_cast<double>(sorted_late_us.size() - 1 - i) / messages;
    if (later - gaps.later_than(sorted_late_us[i]) <= beyond_p99) return sorted_late_us[i];
  }
  return sorted_late_us.back();
}

double quantile(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(percent * sorted.size() + 99) / 100 - 1];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 4;
  if (argc > 3 || !(seconds >= round_s)) {
    std::fprintf(stderr, "usage: pacer [SECONDS [CPU]]   at least %.2f s\n", round_s);
    return 2;
  }
  guard_process();
  pin_thread(argc > 2 ? std::atoi(argv[2]) : 1);
  const Clock clock = Clock::calibrate(50, false);
  std::printf("pacer, pinned and polling; clock %s, %.0f ns per reading; |sent - intended| in us\n",
              clock.source_name().c_str(), clock.cost_ns());
  std::printf("%9s %9s %7s %9s %9s | gaps > 1 us: %9s %9s %11s | %s\n", "rate", "messages", "p50", "p99", "max",
              "per second", "longest", "of the gaps", "p99 outside");
  bool noisy = false;
  for (const double rate_hz : {1e3, 1e4, 1e5}) {
    std::vector<double> late_us;
    std::vector<double> gaps_us;
    late_us.reserve(static_cast<std::size_t>(rate_hz * (seconds + 1)));
    gaps_us.reserve(1'000'000);
    double watched_s = 0;
    for (auto rounds = static_cast<unsigned>(seconds / round_s); rounds > 0; --rounds) {
      pace(clock, rate_hz, late_us);
      watched_s += watch(clock, gaps_us);
    }
    std::sort(late_us.begin(), late_us.end());
    std::sort(gaps_us.begin(), gaps_us.end());
    const Gaps gaps(std::move(gaps_us), watched_s);
    std::printf("%6.0f Hz %9zu %7.3f %9.3f %9.1f | %22.0f %9.1f %11.3f | %.3f\n", rate_hz, late_us.size(),
                quantile(late_us, 50), quantile(late_us, 99), late_us.back(), gaps.a_second(), gaps.longest(),
                gaps.p99(), outside(late_us, gaps));
    noisy = noisy || gaps.p99() > goal_us;
  }
  if (noisy) {
    std::printf(
        "this machine was busy: its gaps alone make p99 longer than %.0f us, and correcting for such gaps is inexact; "
        "run "
        "again when it is idle\n",
        goal_us);
  }
  return 0;
}
