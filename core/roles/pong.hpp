// The pong: copies what it received into a reply and sends it back. Hot file: once run() has started nothing here allocates,
// locks, logs or throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include <middlemark/adapter.hpp>
#include <middlemark/message.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/roles/requests.hpp>
#include <middlemark/roles/topics.hpp>
#include <middlemark/sequence.hpp>

namespace middlemark {

template <Adapter A>
class Pong {
  using AdapterPublisher = decltype(std::declval<A&>().publisher(std::declval<const Topic&>(), 0U));
  using AdapterSubscriber = decltype(std::declval<A&>().subscriber(std::declval<const Topic&>(), 0U));

 public:
  Pong(A& adapter, const Settings& settings, const PongRequest& request, Progress& progress)
      : settings_(settings),
        request_(request),
        progress_(progress),
        // The ping checks what comes back, which covers both ways; with several pongs it can check only one reply in full.
        checks_(request.payload == Payload::filled && (settings.subscribers > 1 || !request.echoes)),
        subscriber_(adapter.subscriber(ping_topic(settings), request.index)) {
    if (request.echoes) {
      publisher_.reset(new AdapterPublisher(adapter.publisher(pong_topic(settings, request.echoing), request.index)));
    }
  }

  [[nodiscard]] std::size_t matched() { return publisher_ ? publisher_->matched() : 0; }
  [[nodiscard]] std::size_t expected() const noexcept { return publisher_ ? 1 : 0; }

  /// Echoes until it is told to stop.
  void run() {
    progress_.phase.store(Phase::echoing, std::memory_order_release);
    if (settings_.reception == Reception::listen) {
      subscriber_.listen(Listener(*this));
      progress_.stop.sleep_until_requested();
      subscriber_.silence();
    } else {
      echo();
    }
    conclude();
  }

  [[nodiscard]] const RoleResult& result() const noexcept { return result_; }

  void operator()(std::span<const std::byte> message) noexcept {
    if (message.size() != settings_.message_bytes) [[unlikely]] {
      damaged_ += is_rehearsal(message) ? 0 : 1;
      return;
    }
    const Header header = read_header(message);
    if (publisher_) reply(message, header);
    account(message, header);
  }

 private:
  [[nodiscard]] bool stopped() const noexcept { return progress_.stop.requested(); }

  void echo() noexcept {
    if (settings_.reception == Reception::poll) {
      while (!stopped()) subscriber_.take(*this);
      return;
    }
    while (!stopped()) {
      if (subscriber_.wait(std::chrono::milliseconds(50))) subscriber_.take(*this);
    }
  }

  void reply(std::span<const std::byte> message, const Header& header) noexcept {
    const std::span<std::byte> answer = publisher_->loan(message.size());
    if (answer.size() != message.size()) [[unlikely]] {
      ++publish_failed_;
      return;
    }
    if (request_.payload == Payload::filled) {
      std::memcpy(answer.data() + header_bytes, message.data() + header_bytes, message.size() - header_bytes);
    }
    write_header(answer, header.from(request_.index));
    if (publisher_->publish() == Published::ok) [[likely]] {
      echoed_ += header.rehearsal() ? 0 : 1;
    } else {
      ++publish_failed_;
    }
  }

  void account(std::span<const std::byte> message, const Header& header) noexcept {
    if (header.rehearsal()) return;
    // A sequence this far ahead is a damaged header; following it would spoil every count after it.
    constexpr std::uint64_t plausible_gap = 1'000'000'000;
    if (header.sequence() == 0 || header.sequence() > tracker_.highest() + plausible_gap) {
      ++damaged_;
      return;
    }
    tracker_.see(header.sequence());
    if (checks_ && !payload_intact(message, header)) ++damaged_;
    progress_.samples.store(tracker_.unique(), std::memory_order_relaxed);
  }

  void conclude() {
    result_.role = "pong";
    result_.index = request_.index;
    result_.samples = tracker_.unique();
    result_.received = tracker_.unique();
    result_.echoed = echoed_;
    // What was sent after the last one it saw, only the ping's count can tell.
    result_.lost = tracker_.highest() - tracker_.unique();
    result_.duplicated = tracker_.duplicated();
    result_.reordered = tracker_.reordered();
    result_.damaged = damaged_;
    result_.publish_failed = publish_failed_;
    result_.ended = "stopped";
    if constexpr (HasLastError<AdapterPublisher>) {
      if (publisher_) result_.last_error = publisher_->last_error();
    }
    if constexpr (HasLastError<AdapterSubscriber>) {
      if (result_.last_error.empty()) result_.last_error = subscriber_.last_error();
    }
  }

  const Settings settings_;
  const PongRequest request_;
  Progress& progress_;
  const bool checks_;
  AdapterSubscriber subscriber_;
  std::unique_ptr<AdapterPublisher> publisher_;
  SequenceTracker tracker_;
  std::uint64_t echoed_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t publish_failed_ = 0;
  RoleResult result_;
};

}  // namespace middlemark
