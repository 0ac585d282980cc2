// A participant of a crowd: a session of the middleware with publishers and subscribers of its own. It measures times
// from milliseconds to minutes, and the cost of an idle session, so it need not be as fast as the other roles. While
// messages are measured, the code here does not allocate, lock, log or throw.
//
// Before start() it sends probes on each topic that has a subscriber. A subscriber has found a publisher when the first
// message has arrived. After start() the participant is idle, and then it sends at a rate. Each subscriber has a
// receiving thread of its own (under `listen` the middleware's), because the contract has no way to wait for several
// subscribers.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/records.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/topics.hpp>
#include <middlemark/sequence.hpp>

namespace middlemark {

/// Counts and records the messages of one subscribed topic, which has one publisher. One thread at a time visits it.
class Hearing {
 public:
  Hearing(const Topic& topic, unsigned publisher_id, std::uint64_t messages, bool checks, const Clock& clock)
      : message_bytes_(topic.message_bytes), publisher_id_(publisher_id), checks_(checks), clock_(clock) {
    arrivals_.resize(messages);  // touches the memory before the start
    arrivals_.clear();
  }

  void operator()(std::span<const std::byte> message) noexcept {
    const std::uint64_t now = clock_.ticks();
    if (message.size() != message_bytes_) return count(damaged_);
    const Header header = read_header(message);
    if (header.publisher_id() != publisher_id_) return count(damaged_);
    if (first_ticks_.load(std::memory_order_relaxed) == 0) first_ticks_.store(now, std::memory_order_release);
    if (header.warm_up()) return;
    const SequenceTracker::Verdict verdict = tracker_.see(header.sequence());
    if (verdict == SequenceTracker::Verdict::duplicate) return count(duplicated_);
    if (verdict == SequenceTracker::Verdict::reordered) count(reordered_);
    if (checks_ && !payload_intact(message, header)) {
      count(damaged_);
    } else if (arrivals_.size() < arrivals_.capacity()) {
      arrivals_.push_back({header.stamp, now, now > header.intended_ticks ? now - header.intended_ticks : 0});
    }
    count(received_);
  }

  /// True when a message has arrived. Any thread may call this and the counts below.
  [[nodiscard]] bool heard() const noexcept { return first_ticks_.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] std::uint64_t first_ticks() const noexcept { return first_ticks_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return duplicated_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_.load(std::memory_order_relaxed); }
  /// The records, with times in ticks. Call after the reception has ended.
  [[nodiscard]] std::span<const Arrival> arrivals() const noexcept { return arrivals_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return arrivals_.capacity() * sizeof(Arrival); }

 private:
  static void count(std::atomic<std::uint64_t>& number) noexcept {
    number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  const std::size_t message_bytes_;
  const unsigned publisher_id_;
  const bool checks_;
  const Clock clock_;
  SequenceTracker tracker_;
  std::vector<Arrival> arrivals_;
  std::atomic<std::uint64_t> first_ticks_{0};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> duplicated_{0};
  std::atomic<std::uint64_t> reordered_{0};
  std::atomic<std::uint64_t> damaged_{0};
};

template <Adapter A>
class Participant {
 public:
  /// A participant waits this long for messages of others after it has sent its last message.
  static constexpr std::uint64_t quiet_ns = 2'000'000'000;
  /// A blocking subscriber wakes up after this time. Before it has heard its publisher, it wakes up more often, because
  /// some middlewares connect in publishers_found().
  static constexpr std::chrono::milliseconds longest_wait{1000};
  static constexpr std::chrono::milliseconds connecting_wait{20};

  Participant(const Settings& settings, const ParticipantRequest& request, const Clock& clock, Progress& progress)
      : request_(request),
        reception_(settings.reception),
        clock_(clock),
        progress_(progress),
        opening_ns_(monotonic_ns()),
        adapter_(settings) {
    const bool checks = request.payload == Payload::filled;
    for (const unsigned owner : crowd_sources(settings, request.index)) {
      for (unsigned number = 0; number < settings.topics_each; ++number) {
        const Topic topic = crowd_topic(settings, owner, number);
        incoming_.push_back(std::make_unique<Incoming>(adapter_, topic, crowd_place(settings, owner, request.index),
                                                       owner, request.messages, checks, clock));
      }
    }
    for (unsigned number = 0; number < settings.topics_each; ++number) {
      outgoing_.push_back(std::make_unique<Outgoing>(adapter_, crowd_topic(settings, request.index, number)));
    }
    // Spread the messages of all topics over the period. Otherwise all participants would send at the same moment.
    const double topics = static_cast<double>(settings.participants) * settings.topics_each;
    period_ns_ = static_cast<std::uint64_t>(1e9 / request.rate_hz);
    offset_ns_ =
        static_cast<std::uint64_t>(static_cast<double>(period_ns_) * request.index * settings.topics_each / topics);
    step_ns_ = static_cast<std::uint64_t>(static_cast<double>(period_ns_) / topics);
    opened_ns_ = monotonic_ns();
  }

  /// The publishers that this participant must hear before it is complete, and those heard so far.
  [[nodiscard]] Found publishers() const noexcept {
    const auto heard = [](const auto& each) { return each->hearing.heard(); };
    return {static_cast<std::size_t>(std::ranges::count_if(incoming_, heard)), incoming_.size()};
  }

  /// Ends the probes and begins the idle time. The control thread calls this once.
  void start() noexcept { started_ns_.store(monotonic_ns(), std::memory_order_release); }

  /// Runs all phases. result() is valid afterwards.
  void run() {
    progress_.phase.store(Phase::warm_up, std::memory_order_relaxed);
    {
      const Listening listening(*this);
      probe();
      heard_at_start_ = publishers().found;
      idle();
      talk();
      drain();
    }
    if (failure_) std::rethrow_exception(failure_);
    conclude();
  }

  [[nodiscard]] const ParticipantResult& result() const noexcept { return result_; }
  [[nodiscard]] std::span<const Arrival> arrivals() const noexcept { return arrivals_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& each : incoming_) bytes += each->hearing.kept_bytes();
    return bytes;
  }
  [[nodiscard]] const A& adapter() const noexcept { return adapter_; }

 private:
  struct Incoming {
    Incoming(A& adapter, const Topic& topic, unsigned place, unsigned owner, std::uint64_t messages, bool checks,
             const Clock& clock)
        : hearing(topic, owner, messages, checks, clock), subscriber(adapter.subscriber(topic, place)) {}
    Hearing hearing;
    SubscriberOf<A> subscriber;
  };
  struct Outgoing {
    Outgoing(A& adapter, const Topic& topic) : bytes(topic.message_bytes), publisher(adapter.publisher(topic, 0)) {}
    std::size_t bytes;
    std::uint64_t probes = 0;
    PublisherOf<A> publisher;
  };

  /// Receives on all subscribers while it exists.
  class Listening {
   public:
    explicit Listening(Participant& participant) : participant_(participant) {
      for (const auto& each : participant.incoming_) {
        if constexpr (Listens<SubscriberOf<A>>) {
          if (participant.reception_ == Reception::listen) {
            each->subscriber.listen(Listener(each->hearing));
            continue;
          }
        }
        threads_.emplace_back([&participant, &incoming = *each](const std::stop_token& stop) {
          pthread_setname_np(pthread_self(), "receiver");
          participant.receive(incoming, stop);
        });
      }
    }
    ~Listening() {
      for (std::jthread& thread : threads_) thread.request_stop();
      threads_.clear();
      if constexpr (Listens<SubscriberOf<A>>) {
        if (participant_.reception_ != Reception::listen) return;
        for (const auto& each : participant_.incoming_) each->subscriber.silence();
      }
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    Participant& participant_;
    std::vector<std::jthread> threads_;
  };

  void receive(Incoming& incoming, const std::stop_token& stop) noexcept {
    try {
      while (!stop.stop_requested()) {
        std::chrono::milliseconds wait = longest_wait;
        if constexpr (CountsPublishers<SubscriberOf<A>>) {
          if (!incoming.hearing.heard()) {
            static_cast<void>(incoming.subscriber.publishers_found());
            wait = connecting_wait;
          }
        }
        if (incoming.subscriber.wait(wait)) incoming.subscriber.take(incoming.hearing);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      progress_.stop.request();
    }
  }

  /// Sends probes on each topic with a subscriber until the start.
  void probe() {
    const auto period = static_cast<std::uint64_t>(request_.probe_s * 1e9);
    for (std::uint64_t due = monotonic_ns(); !started() && !stopped(); due += period) {
      for (const auto& each : outgoing_) {
        if (each->publisher.matched() == 0) continue;
        ++each->probes;
        send(*each, Header::make(request_.index, true, each->probes, clock_.ticks()));
      }
      const std::uint64_t now = monotonic_ns();
      due = std::max(due, now - std::min(now, period));  // after a long stall, send no burst
      while (!started() && !stopped() && monotonic_ns() < due + period)
        sleep_until(std::min(due + period, monotonic_ns() + 10'000'000));
    }
  }

  void idle() noexcept {
    progress_.phase.store(Phase::idle, std::memory_order_relaxed);
    talk_ns_ = started_ns_.load(std::memory_order_acquire) + static_cast<std::uint64_t>(request_.idle_s * 1e9);
    sleep_until(talk_ns_);
  }

  void talk() noexcept {
    progress_.phase.store(Phase::measuring, std::memory_order_relaxed);
    progress_.begin_to_measure();
    for (std::uint64_t round = 0; round < request_.messages; ++round) {
      std::uint64_t intended_ns = talk_ns_ + round * period_ns_ + offset_ns_;
      for (const auto& each : outgoing_) {
        sleep_until(intended_ns);
        if (stopped()) return;
        const std::uint64_t now = clock_.ticks();
        const std::uint64_t now_ns = clock_.to_monotonic_ns(now);
        const std::uint64_t late = now_ns - std::min(now_ns, intended_ns);
        count(send(*each, Header::make(request_.index, false, round + 1, now - clock_.to_ticks(late))), now_ns);
        if (late > period_ns_) ++late_sends_;
        intended_ns += step_ns_;
      }
    }
    sleep_until(talk_ns_ + request_.messages * period_ns_);
  }

  /// Waits for the messages of others until all have arrived, or none arrives any more.
  void drain() noexcept {
    const std::uint64_t expected = incoming_.size() * request_.messages;
    std::uint64_t quiet_since = monotonic_ns();
    for (std::uint64_t seen = 0; !stopped(); sleep_until(monotonic_ns() + 10'000'000)) {
      const std::uint64_t received = total(&Hearing::received);
      progress_.received.store(received, std::memory_order_relaxed);
      if (received >= expected) {
        ended_ = Ended::complete;
        return;
      }
      if (received != seen) quiet_since = monotonic_ns();
      seen = received;
      if (monotonic_ns() - quiet_since < quiet_ns) continue;
      ended_ = Ended::quiet;
      return;
    }
    ended_ = Ended::stopped;
  }

  Published send(Outgoing& to, const Header& header) noexcept {
    const std::span<std::byte> message = to.publisher.loan(to.bytes);
    if (message.size() != to.bytes) return Published::failed;
    if (request_.payload == Payload::filled) fill_payload(message, header);
    write_header(message, header);
    return to.publisher.publish();
  }

  void count(Published published, std::uint64_t now_ns) noexcept {
    if (published == Published::ok) {
      if (sent_ == 0) first_sent_ns_ = now_ns;
      last_sent_ns_ = now_ns;
      progress_.sent.store(++sent_, std::memory_order_relaxed);
      progress_.samples.store(sent_, std::memory_order_relaxed);
    } else {
      progress_.publish_failed.store(++publish_failed_, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] bool started() const noexcept { return started_ns_.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool stopped() const noexcept { return progress_.stop.requested(); }
  void sleep_until(std::uint64_t instant_ns) const noexcept {
    for (std::uint64_t now = monotonic_ns(); now < instant_ns && !stopped(); now = monotonic_ns()) {
      progress_.stop.sleep(std::chrono::nanoseconds(instant_ns - now));
    }
  }

  template <class Figure>
  [[nodiscard]] std::uint64_t total(Figure figure) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& each : incoming_) sum += (each->hearing.*figure)();
    return sum;
  }

  void conclude() {
    std::uint64_t complete_ticks = 0;
    for (const auto& each : incoming_) {
      complete_ticks = std::max(complete_ticks, each->hearing.first_ticks());
      for (Arrival arrival : each->hearing.arrivals()) {
        arrival.received_ns = clock_.to_monotonic_ns(arrival.received_ns);
        arrival.one_way_ns = clock_.to_ns(arrival.one_way_ns);
        arrivals_.push_back(arrival);
      }
    }
    std::ranges::sort(arrivals_, {}, &Arrival::received_ns);
    result_.index = request_.index;
    result_.ended = ended_;
    result_.opening_ns = opening_ns_;
    result_.opened_ns = opened_ns_;
    result_.publishers_due = incoming_.size();
    result_.publishers_heard = heard_at_start_;
    if (heard_at_start_ == incoming_.size() && complete_ticks != 0)
      result_.complete_ns = clock_.to_monotonic_ns(complete_ticks);
    for (const auto& each : outgoing_) result_.probes += each->probes;
    result_.sent = sent_;
    result_.publish_failed = publish_failed_;
    result_.late_sends = late_sends_;
    result_.expected = incoming_.size() * request_.messages;
    result_.received = total(&Hearing::received);
    result_.duplicated = total(&Hearing::duplicated);
    result_.reordered = total(&Hearing::reordered);
    result_.damaged = total(&Hearing::damaged);
    result_.first_sent_ns = first_sent_ns_;
    result_.last_sent_ns = last_sent_ns_;
    if (!arrivals_.empty()) {
      result_.first_received_ns = arrivals_.front().received_ns;
      result_.last_received_ns = arrivals_.back().received_ns;
    }
    result_.samples = arrivals_.size();
    if (publish_failed_ > 0) {
      for (const auto& each : outgoing_) {
        if constexpr (HasLastError<PublisherOf<A>>) {
          if (result_.last_error.empty()) result_.last_error = each->publisher.last_error();
        }
      }
    }
  }

  const ParticipantRequest request_;
  const Reception reception_;
  const Clock clock_;
  Progress& progress_;
  const std::uint64_t opening_ns_;
  A adapter_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;
  std::uint64_t opened_ns_ = 0;
  std::uint64_t period_ns_ = 0;
  std::uint64_t offset_ns_ = 0;               // from the begin of a period to the message on the first topic
  std::uint64_t step_ns_ = 0;                 // from the message on one topic to that on the next
  std::atomic<std::uint64_t> started_ns_{0};  // 0: not started
  std::uint64_t talk_ns_ = 0;
  std::size_t heard_at_start_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t publish_failed_ = 0;
  std::uint64_t late_sends_ = 0;
  std::uint64_t first_sent_ns_ = 0;
  std::uint64_t last_sent_ns_ = 0;
  Ended ended_ = Ended::stopped;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<Arrival> arrivals_;  // of all topics, in order of arrival
  ParticipantResult result_;
};

}  // namespace middlemark
