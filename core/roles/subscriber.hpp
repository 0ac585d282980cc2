// The subscriber of a stream: counts and records the messages that arrive. Hot file: once run() has started, the code
// here does not allocate, lock, log or throw.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/histogram.hpp>
#include <middlemark/message.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/recorded.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/forward.hpp>
#include <middlemark/roles/latencies.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/reception.hpp>
#include <middlemark/roles/topics.hpp>
#include <middlemark/sequence.hpp>

namespace middlemark {

/// Returns how subscribers of A receive: A::receives if it exists, otherwise the trial's reception.
template <class A>
[[nodiscard]] Reception reception_of(const Settings& settings) noexcept {
  if constexpr (requires { A::receives; }) return A::receives;
  return settings.reception;
}

template <MakesEnds A>
class StreamSubscriber {
 public:
  StreamSubscriber(A& adapter, const Settings& settings, const SubscriberRequest& request, const Clock& clock,
                   Progress& progress)
      : adapter_(adapter),
        topic_(stream_topic(settings, request.topic)),
        place_(place_of(request.index, settings.topics[request.topic].subscribers)),
        sizes_(settings.topics[request.topic]),
        reception_(reception_of<A>(settings)),
        request_(request),
        clock_(clock),
        progress_(progress),
        checks_(request.payload == Payload::filled),
        senders_(settings.publishers),
        recorder_(request.kept) {
    if (history() == 0) open();
    for (const ForwardRequest& forward : request.forwards) {
      forwards_.push_back(std::make_unique<Forward<A>>(adapter, settings, forward, request.payload, clock));
    }
    result_.by_publisher.reserve(senders_.size());
    for (const unsigned publisher_id : settings.topics[request.topic].publishers)
      senders_[publisher_id].expected_here = true;
  }

  /// Number of subscribers that the publishers of this forwarding node have found so far. expected(): the number to
  /// find.
  [[nodiscard]] std::size_t matched() {
    std::size_t found = 0;
    for (const auto& forward : forwards_) found += forward->matched();
    return found;
  }
  [[nodiscard]] std::size_t expected() const noexcept {
    std::size_t all = 0;
    for (const auto& forward : forwards_) all += forward->expected();
    return all;
  }
  /// Publishers found so far. Empty for a late joiner: its thread already uses incoming_, and the start waits for its
  /// history and not for its publishers.
  [[nodiscard]] Found publishers() { return history() > 0 ? Found{} : publishers_found(*incoming_, topic_.publishers); }

  /// Number of history messages that this subscriber must receive if it joins late; 0 if it joins before the start.
  [[nodiscard]] std::uint32_t history() const noexcept { return topic_.history; }
  /// Opens the subscriber of a role that joins late. Call before run(). Throws AdapterError.
  void join() {
    joined_ticks_ = clock_.ticks();
    open();
  }
  void publish_history() {
    for (const auto& forward : forwards_) forward->publish_history();
  }

  /// Receives until the role was asked to stop and the messages that were on their way have arrived. result() is valid
  /// afterwards.
  void run() {
    progress_.phase.store(Phase::echoing, std::memory_order_release);
    const Ended ended = receive_until_stopped(*incoming_, *this, reception_, topic_.reliability, progress_);
    conclude(ended);
  }

  [[nodiscard]] const SubscriberResult& result() const noexcept { return result_; }
  [[nodiscard]] const Recorder<Arrival>& recorder() const noexcept { return recorder_; }
  [[nodiscard]] const Histogram& histogram() const noexcept { return histogram_; }
  /// Adds the new latencies. Called by the control thread.
  void read_latencies(NewLatencies& latencies) const {
    const std::lock_guard lock(converting_);
    latencies.read(recorder_, histogram_, [this](const Arrival& arrival) {
      return converted_ ? arrival.one_way_ns : clock_.to_ns(arrival.one_way_ns);
    });
  }
  [[nodiscard]] std::span<const std::unique_ptr<Forward<A>>> forwards() const noexcept { return forwards_; }

  void operator()(std::span<const std::byte> message) noexcept {
    // Fast path of a flood, for a message that is neither stamped nor checked and that follows a message of the same
    // publisher. The other cases are in a function that is not inlined, so that this path needs only a few registers.
    if (flooding_ != nullptr && message.size() == topic_.message_bytes) {
      const Header header = read_header(message);
      if (header.stamp == flooding_stamp_ + flooding_->highest() + 1 && !header.timed()) [[likely]] {
        flooding_->advance();
        ++received_;
        return;
      }
    }
    receive(message);
  }

  /// Stores the count only after a take, because the role may end as soon as the count is complete.
  void after_take() noexcept { progress_.received.store(received_, std::memory_order_release); }

  /// Call at the beginning of a pause. Uses the current time as the arrival of the last message.
  void pause() noexcept {
    if (received_ == stamped_) return;
    stamped_ = received_;
    last_ticks_ = clock_.ticks();
  }

 private:
  struct Sender {
    SequenceTracker tracker;
    bool expected_here = false;  ///< publishes on this subscriber's topic
  };

  [[gnu::noinline]] void receive(std::span<const std::byte> message) noexcept {
    // Stamp before touching the message. Only if some messages are unstamped, read the header first.
    std::uint64_t now = unstamped_seen_ ? 0 : clock_.ticks();
    if (!has_right_size(message)) [[unlikely]] {
      damaged(is_warm_up(message) ? 0 : 1);
      return;
    }
    const Header header = read_header(message);
    if (header.timed() && unstamped_seen_) now = clock_.ticks();
    if (header.warm_up()) {
      if (header.history()) return count_history(message, header, now);
      pass_on(true, now);
    }
    if (!is_new(header, now)) return;
    if (!header.timed()) unstamped_seen_ = true;
    if (unstamped_seen_ && !checks_ && forwards_.empty()) {
      flooding_ = &senders_[header.publisher_id()].tracker;
      flooding_stamp_ = Header::make(header.publisher_id(), false, 0, 0).stamp;
    }
    if (++received_ == 1) [[unlikely]] {
      first_ticks_ = now != 0 ? now : clock_.ticks();
      begin_timing(deserializing(*incoming_));
      progress_.begin_to_measure();
    }
    if (now != 0) {
      last_ticks_ = now;
      stamped_ = received_;
    }
    if (checks_ && !payload_intact(message, header)) [[unlikely]] {
      damaged(1);
    } else if (header.timed()) {
      keep(header, now);
    }
    pass_on(false, now);
  }

  /// Returns whether the size is right. If sizes vary, the sequence number determines the size.
  [[nodiscard]] bool has_right_size(std::span<const std::byte> message) const noexcept {
    if (!sizes_.vary()) [[likely]]
      return message.size() == topic_.message_bytes;
    return message.size() >= header_bytes && message.size() == sizes_.bytes(read_header(message).sequence());
  }

  void pass_on(bool warm_up, std::uint64_t now) noexcept {
    for (const auto& forward : forwards_) (*forward)(warm_up, now != 0 ? now : clock_.ticks());
  }

  /// Counts the message. Returns whether it is a measured message that arrived for the first time.
  bool is_new(const Header& header, std::uint64_t now) noexcept {
    if (header.warm_up()) {
      if (received_ == 0) last_warm_up_ticks_ = now;
      progress_.warm_ups.store(++warm_ups_, std::memory_order_relaxed);
      return false;
    }
    const unsigned publisher_id = header.publisher_id();
    if (publisher_id >= senders_.size() || !senders_[publisher_id].expected_here ||
        !plausible(senders_[publisher_id].tracker, header.sequence())) {
      damaged(1);
      return false;
    }
    switch (senders_[publisher_id].tracker.see(header.sequence())) {
      case SequenceTracker::Verdict::fresh:
        return true;
      case SequenceTracker::Verdict::reordered:
        progress_.reordered.store(++reordered_, std::memory_order_relaxed);
        return true;
      case SequenceTracker::Verdict::duplicate:
        progress_.duplicated.store(++duplicated_, std::memory_order_relaxed);
        return false;
    }
    return false;
  }

  /// Records the arrival in ticks. conclude() converts the records to ns.
  void keep(const Header& header, std::uint64_t now) noexcept {
    // The counters of two processors may differ slightly, so the difference may be negative.
    const std::uint64_t one_way = now > header.intended_ticks ? now - header.intended_ticks : 0;
    if (!recorder_.keep({header.stamp, now, one_way})) [[unlikely]]
      histogram_.add(clock_.to_ns(one_way));
  }

  /// Counts a history message. Message 0 is not counted, because it need not arrive.
  void count_history(std::span<const std::byte> message, const Header& header, std::uint64_t now) noexcept {
    const std::uint64_t number = header.sequence() & ~Header::history_bit;
    if (number > history()) return;
    if (checks_ && !payload_intact(message, header)) return damaged(1);
    if (history_seen_.see(number) == SequenceTracker::Verdict::duplicate) return;
    history_ticks_ = now;
    progress_.history.store(history_seen_.unique(), std::memory_order_relaxed);
  }

  void damaged(std::uint64_t more) noexcept {
    damaged_ += more;
    progress_.damaged.store(damaged_, std::memory_order_relaxed);
  }

  /// Returns false if a number is too far ahead, which means a damaged header. If it were accepted, all later messages
  /// would count as duplicates.
  [[nodiscard]] static bool plausible(const SequenceTracker& tracker, std::uint64_t sequence) noexcept {
    constexpr std::uint64_t plausible_gap = 1'000'000'000;
    return sequence != 0 && sequence <= tracker.highest() + plausible_gap;
  }

  void conclude(Ended ended) {
    result_.index = request_.index;
    result_.topic = request_.topic;
    result_.samples = recorder_.size();
    result_.in_histogram = histogram_.count();
    result_.received = received_;
    result_.duplicated = duplicated_;
    result_.reordered = reordered_;
    result_.damaged = damaged_;
    for (const Sender& sender : senders_) result_.by_publisher.push_back(sender.tracker.unique());
    result_.last_warm_up_ns = last_warm_up_ticks_ != 0 ? clock_.to_monotonic_ns(last_warm_up_ticks_) : 0;
    result_.first_received_ns = received_ > 0 ? clock_.to_monotonic_ns(first_ticks_) : 0;
    result_.last_received_ns = received_ > 0 ? clock_.to_monotonic_ns(last_ticks_) : 0;
    all_.merge(histogram_);
    const std::lock_guard lock(converting_);  // the measuring is over
    for (Arrival& arrival : recorder_.samples()) {
      arrival.received_ns = clock_.to_monotonic_ns(arrival.received_ns);
      arrival.one_way_ns = clock_.to_ns(arrival.one_way_ns);
      all_.add(arrival.one_way_ns);
    }
    converted_ = true;
    if (all_.count() > 0) {
      result_.one_way_p50_ns = all_.quantile(0.5);
      result_.one_way_p99_ns = all_.quantile(0.99);
      result_.one_way_max_ns = all_.max_seen();
    }
    result_.deserialize_p50_ns = p50_ns(deserializing(*incoming_));
    result_.history_due = history();
    result_.history_received = history_seen_.unique();
    if (history_seen_.unique() > 0) result_.history_ns = clock_.to_ns(history_ticks_ - joined_ticks_);
    result_.ended = ended;
    if constexpr (HasLastError<SubscriberOf<A>>) result_.last_error = incoming_->last_error();
  }

  void open() { incoming_.reset(new SubscriberOf<A>(adapter_.subscriber(topic_, place_))); }

  A& adapter_;
  const Topic topic_;
  const unsigned place_;
  const Sizes sizes_;
  const Reception reception_;
  const SubscriberRequest request_;
  const Clock clock_;
  Progress& progress_;
  const bool checks_;
  std::vector<Sender> senders_;
  Recorder<Arrival> recorder_;
  Histogram histogram_;  // the messages that arrived after the recorder was full
  mutable std::mutex converting_;
  bool converted_ = false;                     // the records are in ns
  Histogram all_;                              // all messages, computed after the end
  std::unique_ptr<SubscriberOf<A>> incoming_;  // null before open()
  std::vector<std::unique_ptr<Forward<A>>> forwards_;
  std::uint64_t received_ = 0;
  std::uint64_t stamped_ = 0;  // value of received_ when last_ticks_ was read
  std::uint64_t warm_ups_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t last_warm_up_ticks_ = 0;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;
  SequenceTracker* flooding_ = nullptr;  // of the last sender; null if every message is stamped or checked
  std::uint64_t flooding_stamp_ = 0;     // Header::stamp of that publisher's message with sequence number 0
  bool unstamped_seen_ = false;          // an unstamped message has arrived
  std::uint64_t joined_ticks_ = 0;
  std::uint64_t history_ticks_ = 0;  // arrival of the last history message
  SequenceTracker history_seen_;
  SubscriberResult result_;
};

}  // namespace middlemark
