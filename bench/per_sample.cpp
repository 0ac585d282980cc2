// Cost of a sample without a middleware: two stamps, the sequence check, the record. Prints the ns per sample, and the ns for
// the two stamps alone. Both are measured alternately in one run.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/sequence.hpp>

int main() {
  using namespace middlemark;
  const Clock clock = Clock::calibrate(50, false);
  constexpr std::size_t samples = 1'000'000;
  std::vector<double> whole;
  std::vector<double> stamps;
  for (int round = 0; round < 15; ++round) {
    {
      Recorder<Sample> recorder(samples);
      SequenceTracker tracker;
      std::vector<std::byte> message(64);
      const std::uint64_t begin = clock.ticks();
      for (std::uint64_t sequence = 1; sequence <= samples; ++sequence) {
        const std::uint64_t sent = clock.ticks();
        write_header(message, Header::make(0, false, sequence, sent));
        const std::uint64_t received = clock.ticks();
        const Header header = read_header(message);
        if (tracker.see(header.sequence()) != SequenceTracker::Verdict::fresh) return 1;
        Sample sample;
        sample.sequence = header.sequence();
        sample.begin_ns = clock.to_ns(sent - begin);
        sample.round_trip_ns = clock.to_ns(received - sent);
        recorder.keep(sample);
      }
      whole.push_back(static_cast<double>(clock.to_ns(clock.ticks() - begin)) / samples);
    }
    const std::uint64_t begin = clock.ticks();
    std::uint64_t sink = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      sink += clock.ticks();
      sink += clock.ticks();
    }
    stamps.push_back(static_cast<double>(clock.to_ns(clock.ticks() - begin)) / samples);
    if (sink == 0) return 1;
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  std::printf("per sample %.1f ns, of which two stamps %.1f ns (ratio %.2f); clock %s\n", median(whole), median(stamps),
              median(whole) / median(stamps), clock.source_name().c_str());
  return 0;
}
