// A participant of a crowd: a session of the middleware with publishers and subscribers of its own. It measures times
// from milliseconds to minutes, and the cost of an idle session, so it need not be as fast as the other roles. While
// messages are measured, the code here does not allocate, lock, log or throw.
//
// Before start() it sends probes on each topic that has a subscriber. A subscriber has found a publisher when the first
// message has arrived. After start() the participant is idle, and then it follows enter(): it sends probes to the
// newcomer, sends at a rate, and sends probes again after a pause of the network. Each subscriber has a receiving thread
// of its own (under `listen` the middleware's), because the contract has no way to wait for several subscribers.
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
#include <middlemark/roles/hearing.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

template <Adapter A>
class Participant {
 public:
  /// A participant waits this long for messages of others after it has sent its last message.
  static constexpr std::uint64_t quiet_ns = 2'000'000'000;
  /// A blocking subscriber wakes up after this time. Before it has heard its publisher, it wakes up more often, because
  /// some middlewares connect in publishers_found().
  static constexpr std::chrono::milliseconds longest_wait{1000};
  static constexpr std::chrono::milliseconds connecting_wait{20};
  /// Between the phases, the participant looks for a command after this time.
  static constexpr std::uint64_t step_of_waiting_ns = 10'000'000;

  Participant(const Settings& settings, const ParticipantRequest& request, const Clock& clock, Progress& progress)
      : request_(request),
        reception_(settings.reception),
        clock_(clock),
        progress_(progress),
        opening_ns_(monotonic_ns()),
        welcomes_(newcomer_hears(settings, request.index)),
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

  /// Begins a phase after the idle time. The control thread calls this.
  void enter(const CrowdCommand& command) noexcept {
    if (command.phase == CrowdPhase::talk) talk_ns_.store(command.at_ns, std::memory_order_release);
    if (command.phase == CrowdPhase::storm) {
      for (const auto& each : incoming_) each->hearing.listen_again();
    }
    phase_.store(static_cast<int>(command.phase), std::memory_order_release);
  }

  /// The peers that the participant reports in the current phase: in a storm the publishers heard since its begin, and
  /// during `leave` the subscribers of its topics. For `leave`, run() must have returned.
  [[nodiscard]] std::size_t peers() const {
    std::size_t found = 0;
    if (entered(CrowdPhase::leave)) {
      for (const auto& each : outgoing_) found += each->publisher.matched();
    } else {
      for (const auto& each : incoming_) found += each->hearing.heard_again() ? 1 : 0;
    }
    return found;
  }

  /// Runs all phases. result() is valid afterwards.
  void run() {
    progress_.phase.store(Phase::warm_up, std::memory_order_relaxed);
    {
      const Listening listening(*this);
      probe_while([this] { return !started(); });
      heard_at_start_ = publishers().found;
      for (const auto& each : outgoing_) result_.probes += each->probes;
      idle();
      join();
      talk();
      drain();
      storm();
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

  /// Sends probes on each topic that has a subscriber, while the condition holds.
  template <class Condition>
  void probe_while(Condition goes_on) {
    const auto period = static_cast<std::uint64_t>(request_.probe_s * 1e9);
    for (std::uint64_t due = monotonic_ns(); goes_on() && !stopped(); due += period) {
      for (const auto& each : outgoing_) {
        if (each->publisher.matched() == 0) continue;
        ++each->probes;
        send(*each, Header::make(request_.index, true, each->probes, clock_.ticks()));
      }
      const std::uint64_t now = monotonic_ns();
      due = std::max(due, now - std::min(now, period));  // after a long stall, send no burst
      while (goes_on() && !stopped() && monotonic_ns() < due + period)
        sleep_until(std::min(due + period, monotonic_ns() + step_of_waiting_ns));
    }
  }

  void idle() noexcept {
    progress_.phase.store(Phase::idle, std::memory_order_relaxed);
    sleep_until(started_ns_.load(std::memory_order_acquire) + static_cast<std::uint64_t>(request_.idle_s * 1e9));
  }

  /// Waits for the talk. While the newcomer opens, sends probes on the topics to which it subscribes.
  void join() {
    progress_.phase.store(Phase::joining, std::memory_order_relaxed);
    const auto silent = [this] { return talk_ns_.load(std::memory_order_acquire) == 0; };
    while (silent() && !stopped()) {
      if (welcomes_ && entered(CrowdPhase::join)) {
        probe_while(silent);
      } else {
        sleep_until(monotonic_ns() + step_of_waiting_ns);
      }
    }
  }

  /// Sends probes after the pause of the network, until the stop.
  void storm() {
    if (!request_.storms) return;
    while (!entered(CrowdPhase::storm) && !stopped()) sleep_until(monotonic_ns() + step_of_waiting_ns);
    probe_while([] { return true; });
  }

  void talk() noexcept {
    progress_.phase.store(Phase::measuring, std::memory_order_relaxed);
    progress_.begin_to_measure();
    const std::uint64_t talk_ns = talk_ns_.load(std::memory_order_acquire);
    for (std::uint64_t round = 0; round < request_.messages; ++round) {
      std::uint64_t intended_ns = talk_ns + round * period_ns_ + offset_ns_;
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
    sleep_until(talk_ns + request_.messages * period_ns_);
  }

  /// Waits for the messages of others until all have arrived, or none arrives any more.
  void drain() noexcept {
    const std::uint64_t expected = incoming_.size() * request_.messages;
    std::uint64_t quiet_since = monotonic_ns();
    for (std::uint64_t seen = 0; !stopped(); sleep_until(monotonic_ns() + step_of_waiting_ns)) {
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

  [[nodiscard]] bool entered(CrowdPhase phase) const noexcept {
    return phase_.load(std::memory_order_acquire) == static_cast<int>(phase);
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
  const bool welcomes_;  // the newcomer subscribes to the topics of this participant
  A adapter_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;
  std::uint64_t opened_ns_ = 0;
  std::uint64_t period_ns_ = 0;
  std::uint64_t offset_ns_ = 0;               // from the begin of a period to the message on the first topic
  std::uint64_t step_ns_ = 0;                 // from the message on one topic to that on the next
  std::atomic<std::uint64_t> started_ns_{0};  // 0: not started
  std::atomic<std::uint64_t> talk_ns_{0};     // 0: the talk has not been announced
  std::atomic<int> phase_{-1};                // the last CrowdPhase of enter(); -1: none
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
