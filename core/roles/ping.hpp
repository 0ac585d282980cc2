// The ping: sends a message, waits for all expected replies and records the round trip. A client is a ping with one
// server. Hot file: once run() has started, the code here does not allocate, lock, log or throw.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/histogram.hpp>
#include <middlemark/message.hpp>
#include <middlemark/pacer.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/realtime.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/latencies.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/replies.hpp>

namespace middlemark {

/// Returns for how many samples the recorder needs memory: the requested number, or the largest number that is possible
/// within the duration, but no more than fit into `memory_bytes`. The ping adds later round trips to a histogram.
/// `alone`: the ping has no pongs and receives its own messages.
[[nodiscard]] inline std::size_t recorder_capacity(const CallerRequest& request, Reception reception,
                                                   std::size_t memory_bytes, bool alone = false) noexcept {
  const std::size_t most = memory_bytes / sizeof(Sample);
  if (request.samples) return std::min<std::size_t>(*request.samples, most);
  if (request.load.kind == LoadKind::rate) {
    // Poisson arrivals can exceed the mean, but not by more than ten standard deviations.
    const double mean = request.load.rate_hz * request.duration_s.value_or(0);
    return std::min<std::size_t>(static_cast<std::size_t>(mean + 10 * std::sqrt(mean) + 2), most);
  }
  // The shortest possible round trip. Passing a message to another thread and back takes at least 150 ns; blocking and
  // listening add at least one call of the middleware.
  const double shortest_ns = alone ? 60.0 : reception == Reception::poll ? 150.0 : 500.0;
  const double expected = request.duration_s.value_or(0) * 1e9 / shortest_ns + 1;
  return std::min<std::size_t>(static_cast<std::size_t>(expected), most);
}

template <Adapter A, class Ends = PingTopics<A>>
class Ping {
 public:
  using Request = typename Ends::Request;
  static constexpr bool client = std::same_as<Request, ClientRequest>;
  using Result = std::conditional_t<client, ClientResult, PingResult>;

  /// The peer counts as gone after `silent_messages` unanswered messages in a row, or after at least two unanswered
  /// messages and `silent_ns` without an answer.
  static constexpr unsigned silent_messages = 16;
  static constexpr std::uint64_t silent_ns = 5'000'000'000;
  static constexpr std::size_t recorder_memory = std::size_t{1} << 30;

  Ping(A& adapter, const Settings& settings, const Request& request, const Clock& clock, Progress& progress)
      : settings_(settings),
        request_(request),
        clock_(clock),
        progress_(progress),
        paced_(request.load.kind == LoadKind::rate),
        recorder_(recorder_capacity(request, settings.reception, recorder_memory / (client ? settings.publishers : 1),
                                    settings.subscribers == 0)),
        pacer_(clock, request.load, settings.reception == Reception::poll),
        replies_(replies(clock, settings, request)),
        ends_(adapter, settings, request) {}

  [[nodiscard]] std::size_t matched() { return ends_.outgoing().matched(); }
  [[nodiscard]] std::size_t expected() const noexcept { return Ends::peers(settings_); }
  [[nodiscard]] Found publishers() { return publishers_of(ends_, request_.echoing); }

  /// Runs the whole role on the calling thread. result() is valid afterwards.
  void run() {
    if constexpr (Listens<Incoming>) {
      if (settings_.reception == Reception::listen) ends_.incoming().listen(Listener(replies_));
    }
    measure();
    if constexpr (Listens<Incoming>) {
      if (settings_.reception == Reception::listen) ends_.incoming().silence();
    }
    conclude();
  }

  [[nodiscard]] const Result& result() const noexcept { return result_; }
  [[nodiscard]] const std::optional<ErrorEvent>& failure() const noexcept { return failure_; }
  [[nodiscard]] const Recorder<Sample>& recorder() const noexcept { return recorder_; }
  [[nodiscard]] const Histogram& histogram() const noexcept { return histogram_; }
  /// Adds the new latencies. Called by the control thread.
  void read_latencies(NewLatencies& latencies) const { latencies.read(recorder_, histogram_, latency_ns); }

 private:
  /// Returns the time from the intended instant to the last reply; without a schedule, late_ns is 0.
  static std::uint64_t latency_ns(const Sample& sample) noexcept { return sample.round_trip_ns + sample.late_ns; }

  using Incoming = std::remove_reference_t<decltype(std::declval<Ends&>().incoming())>;

  static Replies replies(const Clock& clock, const Settings& settings, const Request& request) {
    const bool check = request.payload == Payload::filled;
    return Replies(clock, request.echoing, settings.message_bytes, check, request.index);
  }

  void measure() noexcept {
    timeout_ticks_ = clock_.to_ticks(static_cast<std::uint64_t>(request_.reply_timeout_s * 1e9));
    progress_.phase.store(Phase::warm_up, std::memory_order_relaxed);
    if (!warm_up()) return;
    progress_.phase.store(Phase::measuring, std::memory_order_relaxed);
    progress_.begin_to_measure();
    begin_timing(serializing(ends_.outgoing()));
    begin_timing(deserializing(ends_.incoming()));
    const std::uint64_t messages = request_.samples.value_or(std::numeric_limits<std::uint64_t>::max());
    start_ticks_ = clock_.ticks();
    const std::uint64_t limit = start_ticks_ + clock_.to_ticks(static_cast<std::uint64_t>(request_.limit_s * 1e9));
    const std::uint64_t end =
        request_.duration_s ? start_ticks_ + clock_.to_ticks(static_cast<std::uint64_t>(*request_.duration_s * 1e9))
                            : std::numeric_limits<std::uint64_t>::max();
    end_ticks_ = start_ticks_;
    due_until_ = std::min(end, limit);
    pacer_.start(start_ticks_);
    while (sent_ < messages) {
      const std::uint64_t intended = pacer_.next();
      if (paced_ && intended >= due_until_) {  // no message is due before the end
        pacer_.wait(due_until_, progress_.stop);
        end_ticks_ = clock_.ticks();
        return ended_by(end <= limit ? Ended::duration : Ended::limit);
      }
      const Ongoing exchange = once(Header::make(request_.index, false, ++sent_, intended));
      if (exchange.stopped) {
        --sent_;
        return ended_by(Ended::stopped);
      }
      progress_.sent.store(sent_, std::memory_order_relaxed);
      keep(exchange);
      end_ticks_ = clock_.ticks();
      if (peer_is_silent(end_ticks_)) return end_silent();
      if (progress_.stop.requested()) return ended_by(Ended::stopped);
      if (end_ticks_ >= end) return ended_by(Ended::duration);
      if (end_ticks_ >= limit) return ended_by(Ended::limit);
    }
    ended_by(Ended::samples);
  }

  /// Sends warm-up messages until the warm-up time has passed and every echoing pong has answered one, which shows that
  /// both directions work. Returns false if the pongs do not answer or the role was stopped.
  bool warm_up() noexcept {
    const std::uint64_t begin = clock_.ticks();
    answered_ticks_ = begin;
    const std::uint64_t warm = clock_.to_ticks(static_cast<std::uint64_t>(request_.warmup_s * 1e9));
    std::uint64_t sequence = 0;
    bool answered = false;
    pacer_.start(begin);
    for (;;) {
      const std::uint64_t intended = pacer_.next();
      if (answered && intended >= begin + warm) {  // the next message is measured
        return pacer_.wait(begin + warm, progress_.stop) || (ended_by(Ended::stopped), false);
      }
      const Ongoing exchange = once(Header::make(request_.index, true, ++sequence, intended));
      if (exchange.stopped) return ended_by(Ended::stopped), false;
      answered = answered || exchange.completed;
      warmup_samples_ += exchange.completed ? 1 : 0;
      note_answer(exchange);
      if (peer_is_silent(clock_.ticks())) return end_silent(), false;
      if (progress_.stop.requested()) return ended_by(Ended::stopped), false;
      if (answered && clock_.ticks() - begin >= warm) return true;
    }
  }

  struct Ongoing {
    bool completed = false;
    bool published = false;
    bool stopped = false;  ///< the role was stopped before the message's instant, and nothing was sent
    std::uint64_t sequence = 0;
    std::uint64_t intended = 0;
    std::uint64_t loan_begin = 0;
    std::uint64_t fill_begin = 0;
    std::uint64_t fill_end = 0;
    std::uint64_t begin = 0;
    std::uint64_t written = 0;
    std::uint64_t take_begin = 0;
  };

  Ongoing once(const Header& header) noexcept {
    Ongoing exchange;
    exchange.sequence = header.sequence();
    exchange.intended = header.intended_ticks;
    // Skip the stamps that this trial does not report, because a stamp costs about as much as checking a small message.
    if (settings_.loan) exchange.loan_begin = clock_.ticks();
    const std::span<std::byte> message = ends_.outgoing().loan(settings_.message_bytes);
    if (message.size() != settings_.message_bytes) [[unlikely]] {
      wait_before_retry();
      return exchange;
    }
    if (settings_.loan || replies_.checks()) exchange.fill_begin = clock_.ticks();
    write_header(message, header);
    if (replies_.checks()) fill_payload(message, header);
    if (paced_) {
      exchange.fill_end = clock_.ticks();
      if (!pacer_.wait(exchange.intended, progress_.stop)) [[unlikely]] {
        exchange.stopped = true;
        return exchange;
      }
    }
    replies_.await(header);
    exchange.begin = clock_.ticks();
    if (!paced_) exchange.fill_end = exchange.begin;  // unpaced: one stamp ends the filling and begins the round trip
    const Published published = ends_.outgoing().publish();
    exchange.written = clock_.ticks();
    exchange.published = published == Published::ok;
    if (!exchange.published) [[unlikely]] {
      replies_.give_up();
      if (published == Published::failed) wait_before_retry();
      return exchange;
    }
    exchange.completed = receive(exchange);
    if (!exchange.completed) replies_.give_up();
    return exchange;
  }

  bool receive(Ongoing& exchange) noexcept {
    const std::uint64_t deadline = exchange.begin + timeout_ticks_;
    switch (settings_.reception) {
      case Reception::poll:
        do {
          exchange.take_begin = clock_.early_ticks();
          ends_.incoming().take(replies_);
          if (replies_.completed()) return true;
        } while (exchange.take_begin < deadline);
        return false;
      case Reception::block:
        for (std::uint64_t now = exchange.written; now < deadline; now = clock_.ticks()) {
          if (!ends_.incoming().wait(std::chrono::nanoseconds(clock_.to_ns(deadline - now) + 1))) continue;
          exchange.take_begin = clock_.ticks();
          ends_.incoming().take(replies_);
          if (replies_.completed()) return true;
        }
        return false;
      case Reception::listen:
        for (std::uint64_t now = exchange.written; !replies_.completed(); now = clock_.ticks()) {
          if (now >= deadline) return replies_.completed();
          replies_.sleep(std::chrono::nanoseconds(clock_.to_ns(deadline - now) + 1));
        }
        return true;
    }
    return false;
  }

  void note_answer(const Ongoing& exchange) noexcept {
    if (exchange.completed) [[likely]] {
      unanswered_ = 0;
      answered_ticks_ = replies_.last_ticks();
    } else {
      ++unanswered_;
    }
  }
  [[nodiscard]] bool peer_is_silent(std::uint64_t now) const noexcept {
    return unanswered_ >= silent_messages ||
           (unanswered_ >= 2 && now > answered_ticks_ && clock_.to_ns(now - answered_ticks_) > silent_ns);
  }

  void keep(const Ongoing& exchange) noexcept {
    note_answer(exchange);
    if (!exchange.completed) [[unlikely]] {
      publish_failed_ += exchange.published ? 0 : 1;
      progress_.publish_failed.store(publish_failed_, std::memory_order_relaxed);
      return;
    }
    if (!replies_.intact()) [[unlikely]]
      return;
    Sample sample;
    sample.sequence = exchange.sequence;
    sample.begin_ns = clock_.to_ns(exchange.begin - start_ticks_);
    sample.round_trip_ns = clock_.to_ns(replies_.last_ticks() - exchange.begin);
    sample.first_reply_ns = clock_.to_ns(replies_.first_ticks() - exchange.begin);
    sample.write_ns = clamp_ns(clock_.to_ns(exchange.written - exchange.begin));
    sample.replies = request_.echoing;
    if (paced_ && exchange.begin > exchange.intended) {
      sample.late_ns = clamp_ns(clock_.to_ns(exchange.begin - exchange.intended));
      late_sends_ += exchange.begin - exchange.intended > pacer_.period_ticks() ? 1 : 0;
    }
    if (exchange.take_begin != 0) {
      // With several replies, the take that brought the last reply may also have visited an earlier reply.
      sample.take_ns = clamp_ns(clock_.to_ns(replies_.last_ticks() - exchange.take_begin));
    }
    if constexpr (HasArrivalStamp<std::remove_reference_t<decltype(ends_.incoming())>>) {
      sample.arrived_ns = since_realtime_ns(clock_, ends_.incoming().arrived_ns(), replies_.last_ticks());
    }
    if (settings_.loan) sample.loan_ns = clamp_ns(clock_.to_ns(exchange.fill_begin - exchange.loan_begin));
    if (replies_.checks()) {
      sample.fill_ns = clamp_ns(clock_.to_ns(exchange.fill_end - exchange.fill_begin));
      sample.check_ns = clamp_ns(clock_.to_ns(replies_.check_ticks()));
    }
    if (!recorder_.keep(sample)) [[unlikely]]
      histogram_.add(latency_ns(sample));
    const std::uint64_t samples = recorder_.size() + histogram_.count();
    progress_.samples.store(samples, std::memory_order_relaxed);
    progress_.received.store(samples * request_.echoing, std::memory_order_relaxed);
  }

  /// Pauses after a failed publish. If a middleware refuses at once, the silent_messages tries would otherwise be used
  /// up within microseconds.
  void wait_before_retry() noexcept {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }

  void ended_by(Ended reason) noexcept { ended_ = reason; }
  void end_silent() noexcept { ended_ = Ended::silent; }

  void conclude() {
    result_.index = request_.index;
    if constexpr (client) result_.native = Ends::native;
    if (paced_) {
      const bool early = ended_ != Ended::samples && ended_ != Ended::duration;
      result_.scheduled = pacer_.scheduled_until(early ? end_ticks_ : due_until_);
      if (request_.samples)
        result_.scheduled = early ? std::min(*request_.samples, *result_.scheduled) : *request_.samples;
      result_.late_sends = late_sends_;
      result_.unsent = *result_.scheduled - std::min(*result_.scheduled, sent_);
      result_.pacing_ns = clock_.to_ns(pacer_.pacing_ticks());
    }
    result_.samples = recorder_.size();
    result_.in_histogram = histogram_.count();
    result_.warmup_samples = warmup_samples_;
    result_.measured_s = static_cast<double>(clock_.to_ns(end_ticks_ - start_ticks_)) / 1e9;
    result_.first_begin_ns = sent_ > 0 ? clock_.to_monotonic_ns(start_ticks_) : 0;
    result_.start_ticks = start_ticks_;
    result_.ticks_per_second = clock_.ticks_per_second();
    result_.sent = sent_;
    result_.received = replies_.received();
    const std::uint64_t due = sent_ * request_.echoing;
    result_.lost = due - std::min(due, result_.received);
    result_.late = replies_.late();
    result_.duplicated = replies_.duplicated();
    result_.reordered = replies_.reordered();
    result_.damaged = replies_.damaged();
    result_.publish_failed = publish_failed_;
    result_.serialize_p50_ns = p50_ns(serializing(ends_.outgoing()));
    result_.deserialize_p50_ns = p50_ns(deserializing(ends_.incoming()));
    result_.ended = ended_;
    result_.last_error = last_error_of(ends_.incoming(), &ends_.outgoing());
    if (ended_ == Ended::silent) {
      failure_.emplace();
      failure_->code = ErrorCode::silent;
      failure_->advice = result_.last_error;
      failure_->text = client ? "client " + std::to_string(request_.index) + ": " + std::to_string(unanswered_) +
                                    " requests in a row brought no reply (" + std::to_string(result_.samples) +
                                    " samples before)"
                              : "ping: " + std::to_string(unanswered_) +
                                    " messages in a row brought no reply from all " + std::to_string(request_.echoing) +
                                    " pongs (" + std::to_string(result_.samples) + " samples before)";
    }
  }

  const Settings settings_;
  const Request request_;
  const Clock clock_;
  Progress& progress_;
  const bool paced_;
  Recorder<Sample> recorder_;
  Histogram histogram_;  // the round trips that were completed after the recorder was full
  Pacer pacer_;
  Replies replies_;
  Ends ends_;
  std::uint64_t timeout_ticks_ = 0;
  std::uint64_t start_ticks_ = 0;
  std::uint64_t end_ticks_ = 0;
  std::uint64_t due_until_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t warmup_samples_ = 0;
  std::uint64_t publish_failed_ = 0;
  std::uint64_t late_sends_ = 0;
  unsigned unanswered_ = 0;
  std::uint64_t answered_ticks_ = 0;
  Ended ended_{};
  Result result_;
  std::optional<ErrorEvent> failure_;
};

/// Selects the native request/reply of the middleware, or two topics if it has none.
template <Adapter A>
using Client = Ping<A, std::conditional_t<HasRequestReply<A>, NativeClient<A>, ClientTopics<A>>>;

}  // namespace middlemark
