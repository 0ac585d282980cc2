// How a receiver receives until it is told to stop and has drained: the same for pongs, servers and subscribers.
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

/// So many times nothing in a row are a pause: looking at the clock whenever a ring is empty would slow down who empties it.
inline constexpr unsigned pause_takes = 128;

/// What a visitor that leaves messages unstamped does in a pause.
template <class Visitor>
void settle(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.settle(); }) visitor.settle();
}

/// What a visitor that stamps takes does before one.
template <class Visitor>
void announce_take(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.takes(); }) visitor.takes();
}

/// What a visitor that tells of what came does after a take that brought something.
template <class Visitor>
void conclude_take(Visitor& visitor) noexcept {
  if constexpr (requires { visitor.taken(); }) visitor.taken();
}

/// Under `listen` each message is a take of its own.
template <class Visitor>
class OneByOne {
 public:
  explicit OneByOne(Visitor& visitor) noexcept : visitor_(visitor) {}
  void operator()(std::span<const std::byte> message) noexcept {
    visitor_(message);
    conclude_take(visitor_);
  }

 private:
  Visitor& visitor_;
};

/// Hands every message of `incoming` to `visitor`, on this thread or, under `listen`, on the middleware's. Returns why it
/// ended: complete, quiet, limit or stopped.
template <class Incoming, class Visitor>
Ended receive_until_stopped(Incoming& incoming, Visitor& visitor, Reception reception, Reliability reliability,
                            Progress& progress) {
  Drain drain(reliability);
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
      for (unsigned nothing = 0; !(why = ended());) {
        announce_take(visitor);
        if (incoming.take(visitor) == 0) {
          ++nothing;
        } else {
          nothing = 0;
          conclude_take(visitor);
        }
        if (nothing == pause_takes) settle(visitor);
      }
      settle(visitor);
      return *why;
    case Reception::block:
      while (!(why = ended())) {
        if (!incoming.wait(std::chrono::milliseconds(50))) continue;
        announce_take(visitor);
        incoming.take(visitor);
        conclude_take(visitor);
        settle(visitor);  // before it sleeps
      }
      return *why;
    case Reception::listen:
      if constexpr (Listens<Incoming>) {
        OneByOne<Visitor> each(visitor);
        incoming.listen(Listener(each));
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
