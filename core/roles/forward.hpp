// Publishes one message for each message that a node receives: one step of a chain. Hot file: once the role runs, the
// code here does not allocate, lock, log or throw.
#pragma once

#include <time.h>

#include <cstdint>
#include <span>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/histogram.hpp>
#include <middlemark/message.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/recorded.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/roles/history.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

/// Keeps the calling thread busy until it has used `ns` of processor time.
inline void use_processor(std::uint64_t ns) noexcept {
  const auto used = []() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  };
  for (const std::uint64_t until = used() + ns; used() < until;) {
  }
}

/// Sends the messages of one chain step. After the n-th measured message that the node received, it sends the message
/// with sequence number n and writes the n-th record. The intended instant of the sent message is the arrival of the
/// received message plus `work_s`, so the messages of a busy node are late.
template <MakesEnds A>
class Forward {
 public:
  Forward(A& adapter, const Settings& settings, const ForwardRequest& request, Payload payload, const Clock& clock)
      : topic_(stream_topic(settings, request.topic)),
        sizes_(settings.topics[request.topic]),
        request_(request),
        work_ns_(static_cast<std::uint64_t>(request.work_s * 1e9)),
        fills_(payload == Payload::filled),
        clock_(clock),
        recorder_(request.kept),
        outgoing_(adapter.publisher(topic_, place_of(request.index, settings.topics[request.topic].publishers))) {}

  [[nodiscard]] std::size_t matched() { return outgoing_.matched(); }
  [[nodiscard]] std::size_t expected() const noexcept { return topic_.subscribers; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return result_.sent; }
  [[nodiscard]] const ForwardRequest& request() const noexcept { return request_; }
  [[nodiscard]] const Recorder<Sending>& recorder() const noexcept { return recorder_; }
  [[nodiscard]] const Histogram& histogram() const noexcept { return histogram_; }

  /// Call before the start. Throws AdapterError.
  void publish_history() { middlemark::publish_history(outgoing_, topic_, sizes_, request_.index, fills_); }

  /// Publishes a message for the one that was received at `received` (ticks).
  void operator()(bool warm_up, std::uint64_t received) noexcept {
    if (work_ns_ > 0) use_processor(work_ns_);
    const std::uint64_t intended = received + clock_.to_ticks(work_ns_);
    const Header header = Header::make(request_.index, warm_up, warm_up ? ++warm_ups_ : ++attempts_, intended);
    const std::size_t bytes = sizes_.bytes(header.sequence());
    const std::span<std::byte> message = outgoing_.loan(bytes);
    Published published = Published::failed;
    std::uint64_t begin = clock_.ticks();
    if (message.size() == bytes) [[likely]] {
      if (fills_) fill_payload(message, header);
      begin = clock_.ticks();
      write_header(message, header);
      published = outgoing_.publish();
    }
    const std::uint64_t written = clock_.ticks();
    if (warm_up) return;
    if (published == Published::ok) sent_bytes_ += bytes;
    keep(published, intended, begin, written);
  }

  /// Call after the last message.
  [[nodiscard]] PublisherResult result() {
    result_.index = request_.index;
    result_.topic = request_.topic;
    result_.samples = recorder_.size();
    result_.in_histogram = histogram_.count();
    result_.warmup_samples = warm_ups_;
    result_.writing_ns = writing_ns_;
    if (sizes_.vary()) result_.sent_bytes = sent_bytes_;
    result_.first_sent_ns = result_.sent > 0 ? clock_.to_monotonic_ns(first_) : 0;
    result_.last_sent_ns = result_.sent > 0 ? clock_.to_monotonic_ns(last_) : 0;
    result_.measured_s = result_.sent > 0 ? static_cast<double>(clock_.to_ns(last_ - first_)) / 1e9 : 0;
    if constexpr (HasLastError<PublisherOf<A>>) result_.last_error = outgoing_.last_error();
    return result_;
  }

 private:
  void keep(Published published, std::uint64_t intended, std::uint64_t begin, std::uint64_t written) noexcept {
    if (attempts_ == 1) start_ = begin;
    const std::uint64_t write_ns = clock_.to_ns(written - begin);
    writing_ns_ += write_ns;
    const bool ok = published == Published::ok;
    if (ok) {
      if (++result_.sent == 1) first_ = begin;
      last_ = begin;
    } else {
      ++(published == Published::timed_out ? result_.timed_out : result_.publish_failed);
    }
    Sending record;
    record.begin_ns = clock_.to_ns(begin - start_);
    record.late_ns = clamp_ns(begin > intended ? clock_.to_ns(begin - intended) : 0);
    if (ok) record.write_ns = clamp_ns(write_ns);
    if (!recorder_.keep(record)) [[unlikely]]
      histogram_.add(write_ns);
  }

  const Topic topic_;
  const Sizes sizes_;
  const ForwardRequest request_;
  const std::uint64_t work_ns_;
  const bool fills_;
  const Clock clock_;
  Recorder<Sending> recorder_;
  Histogram histogram_;
  PublisherOf<A> outgoing_;
  std::uint64_t attempts_ = 0;
  std::uint64_t warm_ups_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t writing_ns_ = 0;
  std::uint64_t sent_bytes_ = 0;
  PublisherResult result_;
};

}  // namespace middlemark
