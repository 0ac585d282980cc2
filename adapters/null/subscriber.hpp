// Takes messages from the queues of its publishers. Stalls at the messages that the script selects.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/message.hpp>

#include "queue.hpp"
#include "route.hpp"
#include "script.hpp"

namespace middlemark::null {

/// A thread that takes messages and passes them to a listener.
class ListeningThread {
 public:
  template <class Incoming>
  void start(Incoming& incoming, Listener listener) {
    thread_ = std::jthread([&incoming, listener](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (incoming.wait(std::chrono::milliseconds(10))) incoming.take(listener);
      }
    });
  }
  void stop() { thread_ = {}; }

 private:
  std::jthread thread_;
};

class Subscriber : kit::Pinned {
 public:
  Subscriber(const Script& script, const Route& route, unsigned index)
      : script_(script),
        suffers_(meant(script.only_subscriber, route.subscriber(index))),
        longest_pause_(route.role == "participant" ? std::chrono::milliseconds(5) : shortest_pause),
        hog_(suffers_ ? script.hog_subscriber_mib << 20 : 0) {
    for (unsigned i = 0; i < route.topic.publishers; ++i) {
      const bool stalls = suffers_ && (!script.stall.empty() || script.stall_every > 0) &&
                          meant(script.only_publisher, route.publisher(i));
      sources_.push_back(
          {std::make_unique<Queue>(route.queue_name(i, index), route.topic.message_bytes, route.slots), stalls});
      sources_.back().queue->attached().store(1, std::memory_order_release);
    }
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    for (std::size_t i = 0; i < sources_.size(); ++i) visits += take_from(i, visitor);
    return visits;
  }

  template <class Visitor>
  std::size_t take_from(std::size_t publisher, Visitor& visitor) noexcept {
    const Source& source = sources_[publisher];
    if (!source.stalls) return source.queue->drain(visitor);
    return source.queue->drain([&](std::span<const std::byte> message) noexcept {
      stall(message);
      visitor(message);
    });
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    const auto something = [this]() noexcept {
      return std::ranges::any_of(sources_, [](const Source& source) { return !source.queue->empty(); });
    };
    if (something()) {
      pause_ = shortest_pause;
      return true;
    }
    const kit::Deadline deadline(timeout);
    do {
      kit::nap(std::min(pause_, std::max(shortest_pause, deadline.left())));
      pause_ = std::min(2 * pause_, longest_pause_);
      if (something()) return true;
    } while (!deadline.passed());
    return false;
  }

  void listen(Listener listener) { thread_.start(*this, listener); }
  void silence() { thread_.stop(); }

 private:
  static constexpr std::chrono::nanoseconds shortest_pause = std::chrono::microseconds(20);

  struct Source {
    std::unique_ptr<Queue> queue;
    bool stalls;
  };

  void stall(std::span<const std::byte> message) const noexcept {
    if (message.size() < header_bytes) return;
    const Header header = read_header(message);
    if (header.warm_up()) return;
    if (script_.stall_every > 0 && header.sequence() % script_.stall_every == 0)
      std::this_thread::sleep_for(script_.stall_every_ms);
    const auto found = script_.stall.find(header.sequence());
    if (found != script_.stall.end()) std::this_thread::sleep_for(found->second);
  }

  const Script script_;
  const bool suffers_;
  const std::chrono::nanoseconds longest_pause_;  // longer in a crowd, whose idle threads must leave time to the others
  std::chrono::nanoseconds pause_ = shortest_pause;  // between two looks; doubles while nothing arrives
  const Hog hog_;
  std::vector<Source> sources_;
  ListeningThread thread_;
};

}  // namespace middlemark::null
