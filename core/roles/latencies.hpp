// The latencies that a role recorded since the last report, for the control thread of a long trial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <middlemark/histogram.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/recorder.hpp>

namespace middlemark {

/// Collects new latencies as buckets of Histogram. Used by the control thread while the role's thread records. Reading
/// a record costs the control thread a few ns.
class NewLatencies {
 public:
  /// Adds the records and the values of `histogram` that are new since the last call. `ns_of`: returns the latency of a
  /// record in ns. A role adds to its histogram only after its recorder is full.
  template <class Record, class NsOf>
  void read(const Recorder<Record>& recorder, const Histogram& histogram, NsOf&& ns_of) {
    for (const Record& record : recorder.samples().subspan(at_)) {
      fresh_.add(ns_of(record));
      ++at_;
    }
    if (!recorder.full()) return;
    histogram.for_each_new(seen_, [this](std::uint64_t lower, std::uint64_t count) { fresh_.add(lower, count); });
  }

  /// Returns the latencies that were read since the last call.
  [[nodiscard]] Latencies taken(RoleKind role, unsigned index) {
    Latencies found;
    found.role = role;
    found.index = index;
    found.max_ns = fresh_.max_seen();
    fresh_.for_each([&found](std::uint64_t lower, std::uint64_t /*upper*/, std::uint64_t count) {
      found.buckets.emplace_back(lower, count);
    });
    fresh_.clear();
    return found;
  }

 private:
  std::size_t at_ = 0;               // the number of records read
  std::vector<std::uint64_t> seen_;  // the histogram's counts at the last call
  Histogram fresh_;
};

}  // namespace middlemark
