// The pong: copies each received message into a reply and sends it back. A server is a pong with several clients. Hot
// file: once run() has started, the code here does not allocate, lock, log or throw.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/message.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/roles/answers.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/reception.hpp>
#include <middlemark/sequence.hpp>

namespace middlemark {

template <Adapter A, class Ends = PongTopics<A>>
class Pong {
 public:
  using Request = typename Ends::Request;
  static constexpr bool serves = std::same_as<Request, ServerRequest>;
  using Result = std::conditional_t<serves, ServerResult, PongResult>;

  Pong(A& adapter, const Settings& settings, const Request& request, const Clock& clock, Progress& progress)
      : settings_(settings),
        request_(request),
        progress_(progress),
        // With one pong, the ping's check of a reply covers the payload in both directions. With several pongs, the
        // ping can fully check only one reply to each message, so each pong checks the messages that it receives.
        checks_(request.payload == Payload::filled && !serves && (settings.subscribers > 1 || !echoes(request))),
        trackers_(serves ? settings.publishers : 1),
        stamps_(clock, !request.samples_path.empty(), {request.samples, request.duration_s}, tells_arrivals),
        ends_(adapter, settings, request) {}

  /// A server answers every request.
  [[nodiscard]] static constexpr bool echoes(const Request& request) noexcept {
    if constexpr (serves)
      return true;
    else
      return request.echoes;
  }

  [[nodiscard]] std::size_t matched() { return ends_.matched(); }
  [[nodiscard]] std::size_t expected() const noexcept { return ends_.peers(settings_); }
  [[nodiscard]] Found publishers() { return publishers_of(ends_, serves ? settings_.publishers : 1); }

  /// Answers until the role is asked to stop. After that, a pong that does not echo still receives the messages that
  /// are on their way. result() is valid afterwards.
  void run() {
    progress_.phase.store(Phase::echoing, std::memory_order_release);
    receive_until_stopped(ends_.incoming(), *this, settings_.reception, settings_.reliability, progress_);
    conclude();
  }

  [[nodiscard]] const Result& result() const noexcept { return result_; }
  [[nodiscard]] const Recorder<Answer>& recorder() const noexcept { return stamps_.recorder(); }

  void before_take() noexcept { stamps_.before_take(); }
  void operator()(std::span<const std::byte> message) noexcept {
    // Stamped messages have a separate function, so that stamping costs an unstamped message one comparison only.
    if (stamps_.due()) [[unlikely]]
      return answer_stamped(message);
    answer<false>(message);
  }

 private:
  [[gnu::noinline]] void answer_stamped(std::span<const std::byte> message) noexcept { answer<true>(message); }

  template <bool stamped>
  void answer(std::span<const std::byte> message) noexcept {
    if constexpr (stamped) stamps_.received();
    if (message.size() != settings_.message_bytes) [[unlikely]] {
      damaged_ += is_warm_up(message) ? 0 : 1;
      stamps_.skipped();
      return;
    }
    const Header header = read_header(message);
    if (auto* const outgoing = ends_.outgoing(header.publisher_id())) reply<stamped>(*outgoing, message, header);
    account(message, header);
  }

  using Incoming = std::remove_reference_t<decltype(std::declval<Ends&>().incoming())>;
  static constexpr bool tells_arrivals = HasArrivalStamp<Incoming>;

  template <bool stamped, class Outgoing>
  void reply(Outgoing& outgoing, std::span<const std::byte> message, const Header& header) noexcept {
    const std::span<std::byte> answer = outgoing.loan(message.size());
    if (answer.size() != message.size()) [[unlikely]] {
      ++publish_failed_;
      stamps_.skipped();
      return;
    }
    if (request_.payload == Payload::filled) {
      std::memcpy(answer.data() + header_bytes, message.data() + header_bytes, message.size() - header_bytes);
    }
    write_header(answer, serves ? header : header.from(request_.index));
    if constexpr (stamped) stamps_.copied();
    const Published published = outgoing.publish();
    if constexpr (stamped) stamps_.published();
    if (published == Published::ok) [[likely]] {
      echoed_ += header.warm_up() ? 0 : 1;
    } else {
      ++publish_failed_;
    }
    if (header.warm_up() || published != Published::ok) [[unlikely]] {
      stamps_.skipped();
    } else {
      stamps_.answered(header, [this]() noexcept { return arrived_ns(); });
    }
  }

  [[nodiscard]] std::uint64_t arrived_ns() noexcept {
    if constexpr (tells_arrivals) return ends_.incoming().arrived_ns();
    return 0;
  }

  void account(std::span<const std::byte> message, const Header& header) noexcept {
    if (header.warm_up()) {
      progress_.warm_ups.store(++warm_ups_, std::memory_order_relaxed);
      return;
    }
    // A number further ahead means a damaged header. If it were accepted, all later messages would be duplicates.
    constexpr std::uint64_t plausible_gap = 1'000'000'000;
    const unsigned publisher_id = serves ? header.publisher_id() : 0;
    if (publisher_id >= trackers_.size() || header.sequence() == 0 ||
        header.sequence() > trackers_[publisher_id].highest() + plausible_gap) {
      progress_.damaged.store(++damaged_, std::memory_order_relaxed);
      return;
    }
    if (trackers_[publisher_id].see(header.sequence()) == SequenceTracker::Verdict::duplicate) {
      progress_.duplicated.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (received_++ == 0) [[unlikely]] {
      begin_timing(deserializing(ends_.incoming()));
      if (auto* const outgoing = ends_.outgoing(0)) begin_timing(serializing(*outgoing));
      progress_.begin_to_measure();
    }
    if (checks_ && !payload_intact(message, header)) progress_.damaged.store(++damaged_, std::memory_order_relaxed);
    progress_.samples.store(received_, std::memory_order_relaxed);
    progress_.received.store(received_, std::memory_order_release);
  }

  void conclude() {
    result_.index = request_.index;
    if constexpr (serves) result_.native = Ends::native;
    result_.received = received_;
    result_.echoed = echoed_;
    result_.stamped = stamps_.recorder().size();
    for (const SequenceTracker& tracker : trackers_) {
      // This count does not include messages that were lost after the last received message. Only the sender knows
      // them.
      result_.lost += tracker.highest() - tracker.unique();
      result_.duplicated += tracker.duplicated();
      result_.reordered += tracker.reordered();
    }
    result_.damaged = damaged_;
    result_.publish_failed = publish_failed_;
    // A server over topics has a publisher for each client; report the times of the first.
    if (auto* const outgoing = ends_.outgoing(0)) result_.serialize_p50_ns = p50_ns(serializing(*outgoing));
    result_.deserialize_p50_ns = p50_ns(deserializing(ends_.incoming()));
    result_.ended = Ended::stopped;
    result_.last_error = last_error_of(ends_.incoming(), ends_.outgoing(0));
  }

  const Settings settings_;
  const Request request_;
  Progress& progress_;
  const bool checks_;
  std::vector<SequenceTracker> trackers_;  // one per client of a server
  AnswerStamps stamps_;
  Ends ends_;
  std::uint64_t received_ = 0;
  std::uint64_t warm_ups_ = 0;
  std::uint64_t echoed_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t publish_failed_ = 0;
  Result result_;
};

/// Selects the native request/reply of the middleware, or two topics if it has none.
template <Adapter A>
using Server = Pong<A, std::conditional_t<HasRequestReply<A>, NativeServer<A>, ServerTopics<A>>>;

}  // namespace middlemark
