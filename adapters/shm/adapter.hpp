// The floor of shared memory: what two processes on this machine can do with nothing between them.
#pragma once

#include <sched.h>
#include <sys/utsname.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/futex.hpp>

#include "ring.hpp"

namespace middlemark {

class SharedMemory {
 public:
  class Publisher;
  class Subscriber;

  explicit SharedMemory(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] static Description describe() {
    utsname kernel{};
    uname(&kernel);
    Description about;
    about.name = "shm";
    about.title = "Shared memory ring (floor)";
    about.version = kernel.release;
    about.licence = "Apache-2.0";
    about.floor = true;
    Transport transport;
    transport.name = "shm";
    transport.carrier = "shared-memory";
    transport.segments = {"middlemark.*"};
    transport.receive = {"poll", "block"};
    transport.loan = {false, true};
    about.transports = {transport};
    about.residue = {"/dev/shm/middlemark.{scope}_*"};
    return about;
  }

  Publisher publisher(const Topic& topic, unsigned index);
  Subscriber subscriber(const Topic& topic, unsigned index);

 private:
  static std::string ring_name(const Topic& topic, unsigned publisher) {
    return "middlemark." + topic.name + ".ring" + std::to_string(publisher);
  }
  static std::string doorbell_name(const Topic& topic, unsigned subscriber) {
    return "middlemark." + topic.name + ".bell" + std::to_string(subscriber);
  }
  [[nodiscard]] shm::RingLayout layout(const Topic& topic) const {
    return shm::RingLayout::of(topic.message_bytes, topic.subscribers, settings_.depth.value_or(64));
  }

  Settings settings_;
};

class SharedMemory::Publisher {
 public:
  Publisher(const Settings& settings, const shm::RingLayout& layout, const std::string& ring_name,
            const std::vector<std::string>& doorbells)
      : hands_over_(settings.loan),
        blocks_when_full_(settings.reliability == Reliability::reliable),
        write_timeout_ns_(static_cast<std::uint64_t>(settings.write_timeout.count())),
        ring_(ring_name, layout),
        own_(hands_over_ ? 0 : layout.message_bytes) {
    // A polling subscriber never sleeps: no bell, and no fence for it on the way.
    if (settings.reception != Reception::poll) {
      for (const std::string& name : doorbells) doorbells_.push_back(std::make_unique<shm::Doorbell>(name));
    }
  }
  ~Publisher() { ring_.unlink(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return hands_over_ ? ring_.payload(next_) : own_.span(); }

  Published publish() noexcept {
    // The next slot must stay free, so that loan() always has one to give.
    if (next_ - slowest_ >= ring_.layout().slots - 1 && !make_room()) {
      return blocks_when_full_ ? Published::timed_out : Published::ok;
    }
    if (!hands_over_) std::memcpy(ring_.payload(next_).data(), own_.span().data(), own_.span().size());
    ring_.sequence(next_).store(next_ + 1, std::memory_order_release);
    ++next_;
    for (const auto& doorbell : doorbells_) ring(*doorbell);
    return Published::ok;
  }

  std::size_t matched() noexcept {
    const std::size_t found = ring_.attached().load(std::memory_order_acquire);
    if (found == ring_.layout().subscribers) ring_.unlink();  // nobody else will open it, and a kill leaves nothing
    return found;
  }

 private:
  static void ring(const shm::Doorbell& doorbell) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the message before the look at `sleeping`
    if (doorbell.sleeping().load(std::memory_order_relaxed) == 0) return;
    doorbell.rings().fetch_add(1, std::memory_order_release);
    futex_wake(doorbell.rings(), 1, FutexScope::shared);
  }

  bool make_room() noexcept {
    const std::uint64_t deadline = monotonic_ns() + write_timeout_ns_;
    for (;;) {
      slowest_ = ring_.slowest_cursor();
      if (next_ - slowest_ < ring_.layout().slots - 1) return true;
      if (!blocks_when_full_ || monotonic_ns() > deadline) return false;
      sched_yield();
    }
  }

  const bool hands_over_;
  const bool blocks_when_full_;
  const std::uint64_t write_timeout_ns_;
  shm::Ring ring_;
  std::uint64_t next_ = 0;
  std::uint64_t slowest_ = 0;
  std::vector<std::unique_ptr<shm::Doorbell>> doorbells_;
  shm::OwnMessage own_;
};

class SharedMemory::Subscriber {
 public:
  Subscriber(const shm::RingLayout& layout, const std::vector<std::string>& rings, const std::string& doorbell_name,
             unsigned index)
      : index_(index), doorbell_(doorbell_name) {
    for (const std::string& name : rings) {
      sources_.push_back(std::make_unique<Source>(name, layout));
      sources_.back()->ring.attached().fetch_add(1, std::memory_order_acq_rel);
    }
  }
  ~Subscriber() { doorbell_.unlink(); }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    for (const auto& source : sources_) visits += take(*source, visitor);
    return visits;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    const std::uint32_t heard = doorbell_.rings().load(std::memory_order_acquire);
    doorbell_.sleeping().store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // `sleeping` before the look at the rings
    if (!anything()) futex_wait(doorbell_.rings(), heard, timeout, FutexScope::shared);
    doorbell_.sleeping().store(0, std::memory_order_relaxed);
    return anything();
  }

  void listen(Listener /*listener*/) { throw AdapterError("shm: a ring has no thread of its own to listen on"); }
  void silence() noexcept {}

 private:
  struct Source {
    Source(const std::string& name, const shm::RingLayout& layout) : ring(name, layout) {}
    shm::Ring ring;
    std::uint64_t next = 0;
  };

  [[nodiscard]] static bool has_next(const Source& source) noexcept {
    return source.ring.sequence(source.next).load(std::memory_order_acquire) == source.next + 1;
  }

  [[nodiscard]] bool anything() const noexcept {
    for (const auto& source : sources_) {
      if (has_next(*source)) return true;
    }
    return false;
  }

  template <class Visitor>
  std::size_t take(Source& source, Visitor& visitor) noexcept {
    std::size_t visits = 0;
    while (has_next(source)) {
      visitor(std::span<const std::byte>(source.ring.payload(source.next)));
      ++source.next;
      ++visits;
      source.ring.cursor(index_).store(source.next, std::memory_order_release);
    }
    return visits;
  }

  const std::size_t index_;
  std::vector<std::unique_ptr<Source>> sources_;
  shm::Doorbell doorbell_;
};

inline SharedMemory::Publisher SharedMemory::publisher(const Topic& topic, unsigned index) {
  std::vector<std::string> doorbells;
  for (unsigned i = 0; i < topic.subscribers; ++i) doorbells.push_back(doorbell_name(topic, i));
  return Publisher(settings_, layout(topic), ring_name(topic, index), doorbells);
}

inline SharedMemory::Subscriber SharedMemory::subscriber(const Topic& topic, unsigned index) {
  std::vector<std::string> rings;
  for (unsigned i = 0; i < topic.publishers; ++i) rings.push_back(ring_name(topic, i));
  return Subscriber(layout(topic), rings, doorbell_name(topic, index), index);
}

static_assert(Adapter<SharedMemory>);

}  // namespace middlemark
