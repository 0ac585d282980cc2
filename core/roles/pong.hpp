// The pong: copies what it received into a reply and sends it back. A server is a pong of several clients. Hot file: once run() has started nothing here allocates,
// locks, logs or throws.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/roles/answers.hpp>
#include <middlemark/roles/ends.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/reception.hpp>
#include <middlemark/roles/requests.hpp>
#include <middlemark/sequence.hpp>

namespace middlemark {

template <Adapter A, class Ends = PongTopics<A>>
class Pong {
 public:
  Pong(A& adapter, const Settings& settings, const PongRequest& request, const Clock& clock, Progress& progress)
      : settings_(settings),
        request_(request),
        progress_(progress),
        // Who sent the message checks what comes back, which covers both ways; of several pongs' replies a ping can check
        // only one in full.
        checks_(request.payload == Payload::filled && !request.serves && (settings.subscribers > 1 || !request.echoes)),
        trackers_(request.serves ? settings.publishers : 1),
        stamps_(clock, !request.samples_path.empty(), {request.samples, request.duration_s}, tells_arrivals),
        ends_(adapter, settings, request) {
    result_.by_source.reserve(trackers_.size());
  }

  [[nodiscard]] std::size_t matched() { return ends_.matched(); }
  [[nodiscard]] std::size_t expected() const noexcept { return ends_.peers(settings_); }
  [[nodiscard]] Found publishers() { return publishers_of(ends_, request_.serves ? settings_.publishers : 1); }

  /// Echoes until it is told to stop; one that does not echo drains first. result() is valid afterwards.
  void run() {
    progress_.phase.store(Phase::echoing, std::memory_order_release);
    receive_until_stopped(ends_.incoming(), *this, settings_, progress_);
    conclude();
  }

  [[nodiscard]] const RoleResult& result() const noexcept { return result_; }
  [[nodiscard]] const Recorder<Answer>& recorder() const noexcept { return stamps_.recorder(); }

  void takes() noexcept { stamps_.takes(); }
  void operator()(std::span<const std::byte> message) noexcept {
    // Apart, so that those that are not stamped pay one look and no more.
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
      damaged_ += is_rehearsal(message) ? 0 : 1;
      stamps_.passed();
      return;
    }
    const Header header = read_header(message);
    if (auto* const outgoing = ends_.outgoing(header.source())) reply<stamped>(*outgoing, message, header);
    account(message, header);
  }

  using Incoming = std::remove_reference_t<decltype(std::declval<Ends&>().incoming())>;
  static constexpr bool tells_arrivals = HasArrivalStamp<Incoming>;

  template <bool stamped, class Outgoing>
  void reply(Outgoing& outgoing, std::span<const std::byte> message, const Header& header) noexcept {
    const std::span<std::byte> answer = outgoing.loan(message.size());
    if (answer.size() != message.size()) [[unlikely]] {
      ++publish_failed_;
      stamps_.passed();
      return;
    }
    if (request_.payload == Payload::filled) {
      std::memcpy(answer.data() + header_bytes, message.data() + header_bytes, message.size() - header_bytes);
    }
    write_header(answer, request_.serves ? header : header.from(request_.index));
    if constexpr (stamped) stamps_.begins();
    const Published published = outgoing.publish();
    if constexpr (stamped) stamps_.written();
    if (published == Published::ok) [[likely]] {
      echoed_ += header.rehearsal() ? 0 : 1;
    } else {
      ++publish_failed_;
    }
    if (header.rehearsal() || published != Published::ok) [[unlikely]] {
      stamps_.passed();
    } else {
      stamps_.answered(header, [this]() noexcept { return arrived_ns(); });
    }
  }

  [[nodiscard]] std::uint64_t arrived_ns() noexcept {
    if constexpr (tells_arrivals) return ends_.incoming().arrived_ns();
    return 0;
  }

  void account(std::span<const std::byte> message, const Header& header) noexcept {
    if (header.rehearsal()) {
      progress_.rehearsed.store(++rehearsed_, std::memory_order_relaxed);
      return;
    }
    // A sequence this far ahead is a damaged header; following it would spoil every count after it.
    constexpr std::uint64_t plausible_gap = 1'000'000'000;
    const unsigned source = request_.serves ? header.source() : 0;
    if (source >= trackers_.size() || header.sequence() == 0 ||
        header.sequence() > trackers_[source].highest() + plausible_gap) {
      progress_.damaged.store(++damaged_, std::memory_order_relaxed);
      return;
    }
    if (trackers_[source].see(header.sequence()) == SequenceTracker::Verdict::duplicate) {
      progress_.duplicated.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (received_++ == 0) [[unlikely]]
      progress_.begin_to_measure();
    if (checks_ && !payload_intact(message, header)) progress_.damaged.store(++damaged_, std::memory_order_relaxed);
    progress_.samples.store(received_, std::memory_order_relaxed);
    progress_.received.store(received_, std::memory_order_release);
  }

  void conclude() {
    result_.role = request_.serves ? "server" : "pong";
    result_.index = request_.index;
    result_.native = Ends::native;
    result_.samples = received_;
    result_.received = received_;
    result_.echoed = echoed_;
    result_.stamped = stamps_.recorder().size();
    for (const SequenceTracker& tracker : trackers_) {
      // What was sent after the last one it saw, only the sender's count can tell.
      result_.lost += tracker.highest() - tracker.unique();
      result_.duplicated += tracker.duplicated();
      result_.reordered += tracker.reordered();
      result_.by_source.push_back(tracker.unique());
    }
    result_.damaged = damaged_;
    result_.publish_failed = publish_failed_;
    result_.ended = "stopped";
    result_.last_error = last_error_of(ends_.incoming(), ends_.outgoing(0));
  }

  const Settings settings_;
  const PongRequest request_;
  Progress& progress_;
  const bool checks_;
  std::vector<SequenceTracker> trackers_;  // a server's by client
  AnswerStamps stamps_;
  Ends ends_;
  std::uint64_t received_ = 0;
  std::uint64_t rehearsed_ = 0;
  std::uint64_t echoed_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t publish_failed_ = 0;
  RoleResult result_;
};

/// Request and reply as the middleware itself has them, otherwise over two topics.
template <Adapter A>
struct ServerEndsOf {
  using type = ServerTopics<A>;
};
template <HasRequestReply A>
struct ServerEndsOf<A> {
  using type = NativeServer<A>;
};
template <Adapter A>
using Server = Pong<A, typename ServerEndsOf<A>::type>;

}  // namespace middlemark
