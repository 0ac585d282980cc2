// Receives messages until the role is asked to stop and has drained. Used by pongs, servers and subscribers.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include <middlemark/adapter.hpp>
#include <middlemark/roles/drain.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Number of empty takes in a row that count as a pause. The receiver reads the clock at the beginning of a pause; doing
/// so at every empty take would slow it down.
inline constexpr unsigned pause_takes = 128;

/// Calls the visitor's pause(), if it has one, at the beginning of a pause.
template <class Visitor>
void notify_pause(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.pause(); }) visitor.pause();
}

/// Calls the visitor's before_take(), if it has one, before a take.
template <class Visitor>
void notify_before_take(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.before_take(); }) visitor.before_take();
}

/// Calls the visitor's after_take(), if it has one, after a take that visited at least one message.
template <class Visitor>
void notify_after_take(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.after_take(); }) visitor.after_take();
}

/// Calls after_take() after each message, for `listen`.
template <class Visitor>
class OneByOne {
 public:
  explicit OneByOne(Visitor& visitor) noexcept : visitor_(visitor) {}
  void operator()(std::span<const std::byte> message) noexcept {
    visitor_(message);
    notify_after_take(visitor_);
  }

 private:
  Visitor& visitor_;
};

/// Passes every message of `incoming` to `visitor`, on this thread or, under `listen`, on the middleware's. Returns why
/// the reception ended: complete, quiet, limit or stopped.
template <class Incoming, class Visitor>
Ended receive_until_stopped(Incoming& incoming, Visitor& visitor, Reception reception, Reliability reliability,
                            Progress& progress) {
  std::chrono::nanoseconds resends_within{};
  if constexpr (ResendsWithin<Incoming>) resends_within = Incoming::resends_within;
  Drain drain(reliability, resends_within);
  const auto ended = [&]() noexcept -> std::optional<Ended> {
    if (!progress.stop.requested()) [[likely]]
      return std::nullopt;
    return drain.ended(progress.expected.load(std::memory_order_relaxed),
                       progress.received.load(std::memory_order_relaxed),
                       progress.warm_ups.load(std::memory_order_relaxed));
  };
  std::optional<Ended> why;
  switch (reception) {
    case Reception::poll:
      for (unsigned empty_takes = 0; !(why = ended());) {
        notify_before_take(visitor);
        if (incoming.take(visitor) == 0) {
          ++empty_takes;
        } else {
          empty_takes = 0;
          notify_after_take(visitor);
        }
        if (empty_takes == pause_takes) notify_pause(visitor);
      }
      notify_pause(visitor);
      return *why;
    case Reception::block:
      while (!(why = ended())) {
        if (!incoming.wait(std::chrono::milliseconds(50))) continue;
        notify_before_take(visitor);
        incoming.take(visitor);
        notify_after_take(visitor);
        notify_pause(visitor);  // the thread sleeps next
      }
      return *why;
    case Reception::listen:
      if constexpr (Listens<Incoming>) {
        OneByOne<Visitor> one_by_one(visitor);
        incoming.listen(Listener(one_by_one));
        progress.stop.sleep_until_requested();
        while (!(why = ended())) {
          const timespec pause{0, 1'000'000};
          nanosleep(&pause, nullptr);
        }
        incoming.silence();
        return *why;
      }
  }
  return Ended::stopped;
}

}  // namespace middlemark
