// The latencies that a role recorded since the last report, for the control thread of a long trial.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <middlemark/histogram.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/recorder.hpp>

namespace middlemark {

/// Collects new latencies as buckets of Histogram. Used by the control thread while the role's thread records.
class NewLatencies {
 public:
  /// Adds the records and the values of `histogram` that are new since the last call. `ns_of`: returns the latency of a
  /// record in ns. A role adds to its histogram only after its recorder is full.
  template <class Record, class NsOf>
  void read(const Recorder<Record>& recorder, const Histogram& histogram, NsOf&& ns_of) {
    for (const Record& record : recorder.samples().subspan(at_)) {
      const std::uint64_t ns = ns_of(record);
      ++counts_[Histogram::lower_bound(ns)];
      max_ns_ = std::max(max_ns_, ns);
      ++at_;
    }
    if (!recorder.full()) return;
    histogram.for_each_new(seen_, [this](std::uint64_t lower, std::uint64_t count) {
      counts_[lower] += count;
      max_ns_ = std::max(max_ns_, lower);
    });
  }

  /// Returns the latencies that were read since the last call.
  [[nodiscard]] Latencies taken(RoleKind role, unsigned index) {
    Latencies found;
    found.role = role;
    found.index = index;
    found.max_ns = max_ns_;
    found.buckets.assign(counts_.begin(), counts_.end());
    counts_.clear();
    max_ns_ = 0;
    return found;
  }

 private:
  std::size_t at_ = 0;                             // the number of records read
  std::vector<std::uint64_t> seen_;                // the histogram's counts at the last call
  std::map<std::uint64_t, std::uint64_t> counts_;  // by the lower bound of the bucket
  std::uint64_t max_ns_ = 0;
};

}  // namespace middlemark
