// Publishes messages, with the faults of the script. A script selects messages by their sequence numbers, so this
// adapter reads the core's header. No other adapter does.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/message.hpp>

#include "queue.hpp"
#include "route.hpp"
#include "script.hpp"

namespace middlemark::null {

class Publisher : public kit::OwnBuffer {
 public:
  Publisher(const Settings& settings, const Script& script, const Route& route, unsigned index)
      : OwnBuffer(route.topic.message_bytes),
        misbehaves_(route.role == script.at && meant(script.only_publisher, route.publisher(index))),
        never_matches_(script.fail.contains("match")),
        blocks_when_full_(route.topic.reliability == Reliability::reliable),
        skips_absent_(settings.pattern == Pattern::crowd),
        write_timeout_(settings.write_timeout),
        script_(script),
        wrong_(route.topic.message_bytes),
        held_(route.topic.message_bytes),
        hog_(misbehaves_ ? script.hog_mib << 20 : 0) {
    for (unsigned i = 0; i < route.topic.subscribers; ++i) {
      destinations_.push_back(
          {std::make_unique<Queue>(route.queue_name(index, i), route.topic.message_bytes, route.slots),
           meant(script.only_subscriber, route.subscriber(i))});
    }
  }

  Published publish() noexcept {
    deadline_.reset();
    const Header header = read_header(message_);
    if (!misbehaves_ || header.warm_up()) return deliver_to_all();
    const std::uint64_t sequence = header.sequence();
    if (script_.every_delay().count() > 0) spend(CLOCK_MONOTONIC, script_.every_delay());
    if (script_.drift_ns > 0) {
      spend(CLOCK_MONOTONIC, std::chrono::nanoseconds(script_.drift_ns * sequence));
    }
    if (script_.leak_bytes > 0) leak_.grow(script_.leak_bytes);
    if (script_.burn.count() > 0) spend(CLOCK_THREAD_CPUTIME_ID, script_.burn);
    if (const auto found = script_.delay.find(sequence); found != script_.delay.end()) {
      std::this_thread::sleep_for(found->second);
    }
    if (script_.crash.contains(sequence)) std::abort();
    if (script_.hang.contains(sequence)) pause_for_ever();
    if (script_.refuse.contains(sequence)) {
      refused_ = true;
      return Published::failed;
    }
    return misdeliver(sequence);
  }

  std::size_t matched() noexcept {
    if (never_matches_) return 0;
    std::size_t found = 0;
    for (const Destination& destination : destinations_) {
      found += destination.attached() ? 1 : 0;
    }
    return found;
  }

  [[nodiscard]] std::string last_error() const { return refused_ ? "null: refused, as its script says" : ""; }

 private:
  struct Destination {
    std::unique_ptr<Queue> queue;
    bool suffers;  // false: no fault applies to messages for this subscriber

    [[nodiscard]] bool attached() const noexcept { return queue->attached().load(std::memory_order_acquire) != 0; }
  };

  Published deliver_to_all() noexcept {
    Published outcome = Published::ok;
    for (const Destination& destination : destinations_) {
      if (skips_absent_ && !destination.attached()) continue;
      note(outcome, deliver(*destination.queue, message_));
    }
    return outcome;
  }

  Published misdeliver(std::uint64_t sequence) noexcept {
    Published outcome = Published::ok;
    const bool holds = script_.reorder.contains(sequence);
    for (const Destination& destination : destinations_) {
      if (skips_absent_ && !destination.attached()) continue;
      Queue& queue = *destination.queue;
      note(outcome, destination.suffers ? misdeliver(queue, sequence, holds) : deliver(queue, message_));
    }
    holding_ = holds;
    if (holds) held_.assign(message_.begin(), message_.end());
    return outcome;
  }

  Published misdeliver(Queue& queue, std::uint64_t sequence, bool holds) noexcept {
    Published outcome = Published::ok;
    if (!holds && !script_.lose.contains(sequence)) {
      std::span<const std::byte> message = message_;
      if (script_.damage.contains(sequence)) {
        wrong_.assign(message_.begin(), message_.end());
        wrong_.back() ^= std::byte{1};
        message = wrong_;
      }
      if (script_.shorten.contains(sequence)) message = message.first(message.size() - 1);
      outcome = deliver(queue, message);
      if (script_.duplicate.contains(sequence)) note(outcome, deliver(queue, message, true));
    }
    if (holding_) note(outcome, deliver(queue, held_, true));
    return outcome;
  }

  static void note(Published& outcome, Published one) noexcept {
    if (one != Published::ok) outcome = one;
  }

  /// Puts a message into the queue. `due`: true for a message that the script adds. Such a message waits for room even
  /// with best effort, so that the counts are exact.
  Published deliver(Queue& queue, std::span<const std::byte> message, bool due = false) noexcept {
    while (!queue.push(message)) {
      if (!blocks_when_full_ && !due) return Published::ok;
      if (!deadline_) deadline_.emplace(write_timeout_);
      if (deadline_->passed()) return Published::timed_out;
      kit::nap(std::chrono::microseconds(20));
    }
    return Published::ok;
  }

  static void spend(clockid_t clock, std::chrono::nanoseconds span) noexcept {
    const auto read = [clock] {
      timespec now{};
      clock_gettime(clock, &now);
      return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    };
    for (const auto until = read() + span; read() < until;) {
    }
  }

  const bool misbehaves_;
  const bool never_matches_;
  const bool blocks_when_full_;
  const bool skips_absent_;  // a crowd's newcomer does not empty its queues before it opens
  const std::chrono::nanoseconds write_timeout_;
  const Script script_;
  std::vector<std::byte> wrong_;
  std::vector<std::byte> held_;
  const Hog hog_;
  Leak leak_;
  bool holding_ = false;
  bool refused_ = false;
  std::optional<kit::Deadline> deadline_;  // of the current publish(); empty until publish() has to wait for room
  std::vector<Destination> destinations_;
};

}  // namespace middlemark::null
