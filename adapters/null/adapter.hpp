// A scripted adapter that can lose, duplicate, reorder, delay, damage, hang and crash: it tests the bench itself. It alone looks
// at the core's header, because its script names sequences.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>

#include "queue.hpp"
#include "script.hpp"

namespace middlemark {

class Null {
 public:
  class Publisher;
  class Subscriber;

  explicit Null(const Settings& settings) : settings_(settings), script_(null::Script::parse(settings.native)) {
    if (script_.fail.contains("open"))
      throw AdapterError("null: refused to open, as its script says", "change the script");
    if (script_.fail.contains("open-crash")) std::abort();
    if (script_.fail.contains("open-hang")) pause_for_ever();
  }
  ~Null() {
    if (script_.fail.contains("close-crash")) std::abort();
    if (script_.fail.contains("close-hang")) pause_for_ever();
  }
  Null(const Null&) = delete;
  Null& operator=(const Null&) = delete;

  [[nodiscard]] static Description describe() {
    Description about;
    about.name = "null";
    about.title = "Scripted memory queue (tests the bench)";
    about.version = "1";
    about.licence = "Apache-2.0";
    about.bench_only = true;
    Transport memory;
    memory.name = "memory";
    memory.carrier = "shared-memory";
    memory.segments = {"middlemark-null.*"};
    memory.max_bytes = std::size_t{1} << 20;
    memory.max_bytes_advice = "it tests the bench; a larger message tests nothing more";
    memory.max_depth = 1000;
    Transport mislabelled = memory;  // for the bench's proof of transport: says udp, moves its bytes in memory
    mislabelled.name = "mislabelled";
    mislabelled.carrier = "udp";
    about.transports = {memory, mislabelled};
    about.residue = {"/dev/shm/middlemark-null.{scope}_*"};
    about.native = null::Script::keys();
    return about;
  }

  Publisher publisher(const Topic& topic, unsigned index);
  Subscriber subscriber(const Topic& topic, unsigned index);

  [[noreturn]] static void pause_for_ever() {
    for (;;) pause();
  }

 private:
  static std::string queue_name(const Topic& topic, unsigned publisher, unsigned subscriber) {
    return "middlemark-null." + topic.name + "." + std::to_string(publisher) + "." + std::to_string(subscriber);
  }

  Settings settings_;
  null::Script script_;
};

class Null::Publisher {
 public:
  Publisher(const Settings& settings, const null::Script& script, const Topic& topic, unsigned index)
      : misbehaves_(topic.name.ends_with(script.at)),
        never_matches_(script.fail.contains("match")),
        write_timeout_ns_(static_cast<std::uint64_t>(settings.write_timeout.count())),
        script_(script),
        message_(settings.message_bytes),
        held_(settings.message_bytes) {
    for (unsigned i = 0; i < topic.subscribers; ++i) {
      queues_.push_back(std::make_unique<null::Queue>(queue_name(topic, index, i), topic.message_bytes));
    }
  }

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }

  Published publish() noexcept {
    const Header header = read_header(message_);
    const std::uint64_t sequence = header.sequence();
    if (!misbehaves_ || header.rehearsal()) return deliver();
    if (script_.every_delay.count() > 0) spin(script_.every_delay);
    if (const auto found = script_.delay.find(sequence); found != script_.delay.end()) {
      std::this_thread::sleep_for(found->second);
    }
    if (script_.crash.contains(sequence)) std::abort();
    if (script_.hang.contains(sequence)) pause_for_ever();
    if (script_.refuse.contains(sequence)) {
      refused_ = true;
      return Published::failed;
    }
    if (script_.lose.contains(sequence)) return Published::ok;
    if (script_.damage.contains(sequence)) message_.back() ^= std::byte{1};
    if (script_.shorten.contains(sequence)) return deliver(message_.size() - 1);
    if (script_.reorder.contains(sequence)) {
      held_ = message_;
      holding_ = true;
      return Published::ok;
    }
    Published outcome = deliver();
    if (script_.duplicate.contains(sequence)) outcome = deliver();
    if (holding_) {
      holding_ = false;
      message_.swap(held_);
      outcome = deliver();
    }
    return outcome;
  }

  std::size_t matched() noexcept {
    if (never_matches_) return 0;
    std::size_t found = 0;
    for (const auto& queue : queues_) found += queue->attached().load(std::memory_order_acquire) != 0 ? 1 : 0;
    return found;
  }

  [[nodiscard]] std::string last_error() const { return refused_ ? "null: refused, as its script says" : ""; }

 private:
  Published deliver() noexcept { return deliver(message_.size()); }
  Published deliver(std::size_t bytes) noexcept {
    for (const auto& queue : queues_) {
      const std::uint64_t deadline = monotonic_ns() + write_timeout_ns_;
      while (!queue->push(std::span<const std::byte>(message_).first(bytes))) {
        if (monotonic_ns() > deadline) return Published::timed_out;
        const timespec nap{0, 20'000};
        nanosleep(&nap, nullptr);
      }
    }
    return Published::ok;
  }
  static void spin(std::chrono::nanoseconds span) noexcept {
    const std::uint64_t until = monotonic_ns() + static_cast<std::uint64_t>(span.count());
    while (monotonic_ns() < until) {
    }
  }

  const bool misbehaves_;
  const bool never_matches_;
  const std::uint64_t write_timeout_ns_;
  const null::Script script_;
  std::vector<std::byte> message_;
  std::vector<std::byte> held_;
  bool holding_ = false;
  bool refused_ = false;
  std::vector<std::unique_ptr<null::Queue>> queues_;
};

class Null::Subscriber {
 public:
  Subscriber(const Topic& topic, unsigned index) {
    for (unsigned i = 0; i < topic.publishers; ++i) {
      queues_.push_back(std::make_unique<null::Queue>(queue_name(topic, i, index), topic.message_bytes));
      queues_.back()->attached().store(1, std::memory_order_release);
    }
  }
  ~Subscriber() { silence(); }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    for (const auto& queue : queues_) visits += queue->drain(visitor);
    return visits;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    const std::uint64_t deadline = monotonic_ns() + static_cast<std::uint64_t>(timeout.count());
    while (monotonic_ns() < deadline) {
      for (const auto& queue : queues_) {
        if (!queue->empty()) return true;
      }
      const timespec nap{0, 20'000};
      nanosleep(&nap, nullptr);
    }
    return false;
  }

  void listen(Listener listener) {
    thread_ = std::jthread([this, listener](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (wait(std::chrono::milliseconds(10))) take(listener);
      }
    });
  }
  void silence() { thread_ = {}; }

 private:
  std::vector<std::unique_ptr<null::Queue>> queues_;
  std::jthread thread_;
};

inline Null::Publisher Null::publisher(const Topic& topic, unsigned index) {
  return Publisher(settings_, script_, topic, index);
}

inline Null::Subscriber Null::subscriber(const Topic& topic, unsigned index) { return Subscriber(topic, index); }

static_assert(Adapter<Null>);

}  // namespace middlemark
