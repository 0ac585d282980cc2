// The publisher of a stream: sends at the requested load, and records when each message was sent and how long publish()
// took. Hot file: once run() has started, the code here does not allocate, lock, log or throw.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/histogram.hpp>
#include <middlemark/message.hpp>
#include <middlemark/pacer.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/recorded.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/resources.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/history.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/stamping.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

template <MakesEnds A>
class StreamPublisher {
 public:
  /// Number of failed publishes in a row after which the publisher concludes that nobody receives.
  static constexpr unsigned fruitless_publishes = 5;
  /// The largest number of messages that are sent without reading the clock.
  static constexpr std::uint64_t most_untimed = 256;
  /// Unstamped messages between two updates of the count that the control thread reads.
  static constexpr std::uint64_t report_interval = 16;

  StreamPublisher(A& adapter, const Settings& settings, const PublisherRequest& request, const Clock& clock,
                  Progress& progress)
      : topic_(stream_topic(settings, request.topic)),
        sizes_(settings.topics[request.topic]),
        instants_(recorded_instants(request.load, clock)),
        listens_(settings.reception == Reception::listen),
        request_(request),
        clock_(clock),
        progress_(progress),
        fills_(request.payload == Payload::filled),
        // The publisher does nothing between two messages, so one stamp is the end of a publish() and the beginning of
        // the next.
        back_to_back_(!fills_ && !settings.loan && request.load.kind == LoadKind::max),
        recorder_(request.kept),
        pacer_(clock, request.load, settings.reception == Reception::poll, instants_),
        outgoing_(adapter.publisher(topic_, place_of(request.index, settings.topics[request.topic].publishers))) {}

  [[nodiscard]] std::size_t matched() { return outgoing_.matched(); }
  [[nodiscard]] std::size_t expected() const noexcept { return topic_.subscribers; }
  [[nodiscard]] static Found publishers() noexcept { return {}; }

  /// Call before the start. Throws AdapterError.
  void publish_history() { middlemark::publish_history(outgoing_, topic_, sizes_, request_.index, fills_); }

  /// Runs the whole role on the calling thread. result() is valid afterwards.
  void run() {
    progress_.phase.store(Phase::warm_up, std::memory_order_relaxed);
    warm_up();
    if (!ended_) {
      const std::optional<ThreadTimes> before = thread_times();
      progress_.phase.store(Phase::measuring, std::memory_order_relaxed);
      progress_.begin_to_measure();
      begin_timing(serializing(outgoing_));
      measure();
      count_blocked(before);
    }
    conclude();
  }

  [[nodiscard]] const PublisherResult& result() const noexcept { return result_; }
  [[nodiscard]] const std::optional<ErrorEvent>& failure() const noexcept { return failure_; }
  [[nodiscard]] const Recorder<Sending>& recorder() const noexcept { return recorder_; }
  [[nodiscard]] const Histogram& histogram() const noexcept { return histogram_; }

 private:
  struct Instants {
    std::uint64_t intended = 0;
    std::uint64_t begin = 0;
    std::uint64_t written = 0;
  };

  void warm_up() noexcept {
    const std::uint64_t begin = clock_.ticks();
    const std::uint64_t end = begin + clock_.to_ticks(static_cast<std::uint64_t>(request_.warmup_s * 1e9));
    pacer_.start(begin);
    written_ = begin;
    std::uint64_t sequence = 0;
    std::uint64_t now = begin;
    for (; now < end; now = clock_.ticks()) {
      const std::uint64_t intended = pacer_.next();
      if (intended >= end) {  // the next message is measured
        pacer_.wait(end, progress_.stop);
        break;
      }
      if (!pacer_.wait(intended, progress_.stop)) break;
      Instants instants;
      const Published published = send(Header::make(request_.index, true, ++sequence, intended), false, instants);
      warmup_messages_ += published == Published::ok ? 1 : 0;
      if (gives_up(published)) return;
      if (progress_.stop.requested()) break;
    }
    if (progress_.stop.requested()) ended_ = Ended::stopped;
    // Stamp every message if a number of samples was requested, or under `listen`: a listener does not notice pauses,
    // and takes the time of the last arrival from the stamps.
    if (request_.load.kind == LoadKind::max && !request_.samples && !listens_) {
      stride_ = stamp_stride(clock_.cost_ns(), clock_.to_ns(now - begin), warmup_messages_);
    }
  }

  void measure() noexcept {
    const std::uint64_t messages = request_.samples.value_or(std::numeric_limits<std::uint64_t>::max());
    start_ = clock_.ticks();
    end_ = start_;
    written_ = start_;
    const std::uint64_t limit = start_ + clock_.to_ticks(static_cast<std::uint64_t>(request_.limit_s * 1e9));
    const std::uint64_t stop_at = request_.duration_s
                                      ? start_ + clock_.to_ticks(static_cast<std::uint64_t>(*request_.duration_s * 1e9))
                                      : std::numeric_limits<std::uint64_t>::max();
    pacer_.start(start_);
    const bool paced = request_.load.kind != LoadKind::max;
    while (attempts_ < messages) {
      std::uint64_t intended = 0;
      if (paced) {
        intended = pacer_.next();
        if (intended >= std::min(stop_at, limit)) {
          end_ = std::min(stop_at, limit);
          pacer_.wait(end_, progress_.stop);
          ended_ = stop_at <= limit ? Ended::duration : Ended::limit;
          break;
        }
      }
      if (stride_ > 1 && attempts_ % stride_ != 0) {
        const std::uint64_t next = std::min({stride_ - attempts_ % stride_, messages - attempts_, most_untimed});
        fills_ ? send_untimed<true>(next) : send_untimed<false>(next);
        if (!ended_ && clock_.early_ticks() >= std::min(stop_at, limit))
          ended_ = stop_at <= limit ? Ended::duration : Ended::limit;
        if (ended_) break;
        continue;
      }
      Instants instants;
      instants.intended = intended;
      const Published published = send(Header::make(request_.index, false, ++attempts_, intended), paced, instants);
      if (ended_) {  // stopped while waiting: this message was not attempted
        --attempts_;
        break;
      }
      keep(published, instants);
      end_ = instants.written;
      if (gives_up(published)) break;
      if (progress_.stop.requested()) ended_ = Ended::stopped;
      if (end_ >= stop_at) ended_ = Ended::duration;
      if (end_ >= limit) ended_ = Ended::limit;
      if (ended_) break;
    }
    if (!ended_) ended_ = Ended::samples;
    if (untimed_since_) end_ = last_sent_ = clock_.ticks();
    if (request_.load.kind == LoadKind::rate) {
      // If the role ended before it had sent the requested number of messages, only the messages due by then count as
      // scheduled.
      const bool early = ended_ != Ended::samples && ended_ != Ended::duration;
      scheduled_ = pacer_.scheduled_until(early ? end_ : std::min(stop_at, limit));
      if (request_.samples) scheduled_ = early ? std::min(*request_.samples, *scheduled_) : *request_.samples;
    }
  }

  /// Sends `messages` unstamped messages. Updates the count once for all of them, because each additional store delays
  /// the stores of the messages. The function is not inlined and `fills` is a template parameter, so that the loop
  /// need not save any register.
  template <bool fills>
  [[gnu::noinline]] void send_untimed(std::uint64_t messages) noexcept {
    const std::size_t bytes = topic_.message_bytes;
    const StopSignal& stop = progress_.stop;
    Header header = Header::make(request_.index, false, attempts_, Header::untimed_ticks);
    std::uint64_t remaining = messages;
    Published published = Published::ok;
    for (; remaining > 0 && !stop.requested(); --remaining) {
      ++header.stamp;
      const std::span<std::byte> message = outgoing_.loan(bytes);
      if (message.size() != bytes) [[unlikely]] {
        published = Published::failed;
        break;
      }
      if constexpr (fills) fill_payload(message, header);
      write_header(message, header);
      published = outgoing_.publish();
      if (published != Published::ok) [[unlikely]]
        break;
      if (remaining % report_interval == 0) [[unlikely]]
        report_progress(messages - remaining + 1);
    }
    if (const std::uint64_t sent = messages - remaining; sent > 0) {
      attempts_ += sent;
      sent_ += sent;
      fruitless_ = 0;
      untimed_since_ = true;
    }
    if (published == Published::ok) {
      report_progress();
    } else {
      ++attempts_;
      count(published);
      if (gives_up(published)) return;
    }
    if (stop.requested()) ended_ = Ended::stopped;
  }

  /// Sends one message, if `paced` at its intended instant. Otherwise the intended instant is the beginning of publish().
  Published send(Header header, bool paced, Instants& instants) noexcept {
    const std::size_t bytes = sizes_.bytes(header.sequence());
    const std::span<std::byte> message = outgoing_.loan(bytes);
    if (message.size() != bytes) [[unlikely]] {
      instants.begin = instants.written = clock_.ticks();
      return Published::failed;
    }
    if (fills_) fill_payload(message, header);
    if (paced && !pacer_.wait(instants.intended, progress_.stop)) [[unlikely]] {
      ended_ = Ended::stopped;
      return Published::failed;
    }
    instants.begin = back_to_back_ && stride_ == 1 ? written_ : clock_.ticks();
    if (!paced && !header.warm_up()) {
      instants.intended = instants.begin;
      header.intended_ticks = instants.begin;
    }
    write_header(message, header);
    const Published published = outgoing_.publish();
    instants.written = written_ = clock_.ticks();
    if (paced || header.warm_up()) pacer_.sent(written_);
    if (published == Published::ok && !header.warm_up()) sent_bytes_ += bytes;
    return published;
  }

  void keep(Published published, const Instants& instants) noexcept {
    const std::uint64_t write_ns = clock_.to_ns(instants.written - instants.begin);
    writing_ns_ += write_ns;
    Sending record;
    record.begin_ns = clock_.to_ns(instants.begin - start_);
    record.late_ns =
        clamp_ns(instants.begin > instants.intended ? clock_.to_ns(instants.begin - instants.intended) : 0);
    record.write_ns = absent_ns;
    if (published == Published::ok) [[likely]] {
      record.write_ns = clamp_ns(write_ns);
      if (sent_ == 0) first_sent_ = instants.begin;
      last_sent_ = instants.begin;
      untimed_since_ = false;
      if (request_.load.kind == LoadKind::rate && instants.begin - instants.intended > pacer_.period_ticks()) {
        ++late_sends_;
      }
    }
    count(published);
    if (request_.load.kind != LoadKind::max) {
      progress_.sleeping_ns.store(clock_.to_ns(pacer_.sleeping_ticks()), std::memory_order_relaxed);
    }
    if (!recorder_.keep(record)) [[unlikely]]
      histogram_.add(write_ns);
  }

  void count(Published published) noexcept {
    if (published == Published::ok) [[likely]] {
      ++sent_;
    } else {
      ++(published == Published::timed_out ? timed_out_ : publish_failed_);
      progress_.publish_failed.store(timed_out_ + publish_failed_, std::memory_order_relaxed);
    }
    report_progress();
  }

  /// Stores the counts for the control thread. Adds `more`: messages that were sent but are not in `sent_` yet.
  void report_progress(std::uint64_t more = 0) noexcept {
    progress_.sent.store(sent_ + more, std::memory_order_relaxed);
    progress_.samples.store(attempts_ + more, std::memory_order_relaxed);
  }

  [[nodiscard]] bool gives_up(Published published) noexcept {
    if (published == Published::ok) [[likely]] {
      fruitless_ = 0;
      return false;
    }
    if (published == Published::failed) {  // pause, since a middleware that refuses at once would make this loop spin
      const timespec pause{0, 10'000'000};
      nanosleep(&pause, nullptr);
    }
    if (++fruitless_ < fruitless_publishes) return false;
    ended_ = Ended::silent;
    return true;
  }

  /// Computes the time during which the thread was blocked: the elapsed time without the times that it ran, waited for
  /// a processor, or slept until an instant. Reads the clock before the thread's times, so that a loss of the processor
  /// in between does not count as blocked.
  void count_blocked(const std::optional<ThreadTimes>& before) noexcept {
    const std::uint64_t wall = clock_.to_ns(clock_.ticks() - start_);
    const std::optional<ThreadTimes> after = thread_times();
    if (!before || !after) return;
    const std::uint64_t accounted = (after->on_cpu_ns - before->on_cpu_ns) + (after->waiting_ns - before->waiting_ns) +
                                    clock_.to_ns(pacer_.sleeping_ticks());
    if constexpr (requires { A::receives; }) return;  // a call blocks until its reply arrives
    blocked_ns_ = wall - std::min(wall, accounted);
  }

  void conclude() {
    result_.index = request_.index;
    result_.topic = request_.topic;
    result_.samples = recorder_.size();
    result_.in_histogram = histogram_.count();
    result_.warmup_samples = warmup_messages_;
    result_.measured_s = static_cast<double>(clock_.to_ns(end_ - start_)) / 1e9;
    result_.sent = sent_;
    if (sizes_.vary()) result_.sent_bytes = sent_bytes_;
    result_.timed_out = timed_out_;
    result_.publish_failed = publish_failed_;
    if (scheduled_) {
      result_.scheduled = scheduled_;
      result_.late_sends = late_sends_;
      result_.unsent = *scheduled_ - std::min(*scheduled_, attempts_);
    }
    result_.blocked_ns = blocked_ns_;
    result_.pacing_ns = clock_.to_ns(pacer_.pacing_ticks());
    result_.writing_ns = stride_ == 1 ? std::optional(writing_ns_) : std::nullopt;
    result_.serialize_p50_ns = p50_ns(serializing(outgoing_));
    result_.stamped_every = stride_;
    result_.first_sent_ns = sent_ > 0 ? clock_.to_monotonic_ns(first_sent_) : 0;
    result_.last_sent_ns = sent_ > 0 ? clock_.to_monotonic_ns(last_sent_) : 0;
    result_.ended = ended_.value_or(Ended::stopped);
    if constexpr (HasLastError<PublisherOf<A>>) result_.last_error = outgoing_.last_error();
    if (ended_ == Ended::silent) {
      failure_.emplace();
      failure_->code = ErrorCode::silent;
      failure_->advice = result_.last_error;
      failure_->text = "publisher " + std::to_string(request_.index) + ": " + std::to_string(fruitless_) +
                       " publishes in a row timed out or were refused (" + std::to_string(sent_) +
                       " messages sent before): no subscriber receives them";
    }
  }

  const Topic topic_;
  const Sizes sizes_;
  const std::vector<std::uint64_t> instants_;
  const bool listens_;
  const PublisherRequest request_;
  const Clock clock_;
  Progress& progress_;
  const bool fills_;
  const bool back_to_back_;
  Recorder<Sending> recorder_;
  Histogram histogram_;
  Pacer pacer_;
  PublisherOf<A> outgoing_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t first_sent_ = 0;
  std::uint64_t last_sent_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t sent_bytes_ = 0;  // does not include unstamped messages
  unsigned stride_ = 1;           // of each `stride_` messages, the first is stamped
  bool untimed_since_ = false;    // unstamped messages were sent after last_sent_
  std::uint64_t warmup_messages_ = 0;
  std::uint64_t timed_out_ = 0;
  std::uint64_t publish_failed_ = 0;
  std::uint64_t late_sends_ = 0;
  std::uint64_t writing_ns_ = 0;
  std::optional<std::uint64_t> scheduled_;
  std::optional<std::uint64_t> blocked_ns_;
  unsigned fruitless_ = 0;
  std::optional<Ended> ended_;
  PublisherResult result_;
  std::optional<ErrorEvent> failure_;
};

}  // namespace middlemark
