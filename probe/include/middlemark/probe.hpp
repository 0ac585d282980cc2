// probe.h for C++17: handles of probes and topics, and a span that ends with its scope. See docs/how-to/measure-your-nodes.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <middlemark/probe.h>

namespace middlemark::probe {

/// Measures the time from its construction to end() or, without it, to the end of its scope.
class Span {
 public:
  explicit Span(mm_topic topic) noexcept : span_(mm_begin(topic)) {}
  ~Span() { end(); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void pause() noexcept { mm_pause(&span_); }
  void resume() noexcept { mm_resume(&span_); }
  /// Records an iteration and starts the next one. The time after the last call is not recorded.
  void next() noexcept {
    mm_iterate(&span_);
    iterates_ = true;
  }
  void end() noexcept {
    if (!iterates_) mm_end(&span_);
  }

 private:
  mm_span span_;
  bool iterates_ = false;
};

/// A topic or a span of a probe. Copies refer to the same topic.
class Topic {
 public:
  Topic() noexcept = default;  ///< a topic of no probe, which records nothing
  Topic(mm_probe probe, const char* name) : topic_(mm_topic_of(probe, name)) {}

  void sent(std::uint64_t sequence, std::size_t bytes) const noexcept { mm_sent(topic_, sequence, bytes); }
  void received(std::uint64_t sequence) const noexcept { mm_received(topic_, sequence); }
  [[nodiscard]] Span span() const noexcept { return Span(topic_); }

 private:
  mm_topic topic_ = 0;
};

/// A node or a program. Opening the first probe takes some milliseconds.
class Probe {
 public:
  explicit Probe(const char* name) : probe_(mm_probe_open(name)) {}

  [[nodiscard]] Topic topic(const char* name) const { return {probe_, name}; }
  [[nodiscard]] bool records() const noexcept { return probe_ != 0; }
  [[nodiscard]] mm_probe handle() const noexcept { return probe_; }

 private:
  mm_probe probe_ = 0;
};

}  // namespace middlemark::probe
