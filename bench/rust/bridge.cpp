// Compares the cost of calling an adapter in Rust with that of the same adapter in C++. One thread loans, publishes and takes
// 64 bytes through a minimal adapter, alternately in Rust and in C++. Prints the ns of both, and the cost of the bridge per
// call.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <middlemark/kit/rust_bridge.hpp>

namespace {

using namespace middlemark;

constexpr std::size_t bytes = 64;
constexpr unsigned messages = 20'000'000;
constexpr unsigned pairs = 11;

struct Place {
  std::atomic<std::uint64_t> published{0};
  std::array<std::atomic<std::uint64_t>, bytes / 8> words{};
};

class Sender {
 public:
  explicit Sender(std::shared_ptr<Place> place) : place_(std::move(place)) {}
  std::span<std::byte> loan(std::size_t) noexcept { return std::as_writable_bytes(std::span(own_)); }
  Published publish() noexcept {
    for (std::size_t i = 0; i < own_.size(); ++i) place_->words[i].store(own_[i], std::memory_order_relaxed);
    place_->published.store(++sent_, std::memory_order_release);
    return Published::ok;
  }

 private:
  std::shared_ptr<Place> place_;
  std::array<std::uint64_t, bytes / 8> own_{};
  std::uint64_t sent_ = 0;
};

class Receiver {
 public:
  explicit Receiver(std::shared_ptr<Place> place) : place_(std::move(place)) {}
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    const std::uint64_t published = place_->published.load(std::memory_order_acquire);
    if (published == seen_) return 0;
    seen_ = published;
    for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = place_->words[i].load(std::memory_order_relaxed);
    visitor(std::as_bytes(std::span(own_)));
    return 1;
  }

 private:
  std::shared_ptr<Place> place_;
  std::array<std::uint64_t, bytes / 8> own_{};
  std::uint64_t seen_ = 0;
};

struct Sum {
  std::uint64_t value = 0;
  void operator()(std::span<const std::byte> message) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, message.data(), sizeof number);
    value += number;
  }
};

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the ns per message, which is the time of three calls: loan, publish and take.
template <class Publisher, class Subscriber>
[[gnu::noinline]] double message_ns(Publisher& publisher, Subscriber& subscriber) {
  Sum sum;
  const double begin = now_ns();
  for (std::uint64_t i = 0; i < messages; ++i) {
    std::memcpy(publisher.loan(bytes).data(), &i, sizeof i);
    if (publisher.publish() != Published::ok || subscriber.take(sum) != 1) std::abort();
  }
  const double took = now_ns() - begin;
  if (sum.value != std::uint64_t{messages} * (messages - 1) / 2) std::abort();
  return took / messages;
}

/// Returns the ns of a take() that finds no message, the most frequent call of a polling role.
template <class Subscriber>
[[gnu::noinline]] double nothing_ns(Subscriber& subscriber) {
  Sum sum;
  const double begin = now_ns();
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (subscriber.take(sum) != 0) std::abort();
  }
  return (now_ns() - begin) / messages;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  const auto place = std::make_shared<Place>();
  Sender sender(place);
  Receiver receiver(place);
  kit::RustAdapter adapter{Settings{}};
  const Topic topic{.name = "bench", .message_bytes = bytes};
  kit::RustPublisher publisher = adapter.publisher(topic, 0);
  kit::RustSubscriber subscriber = adapter.subscriber(topic, 0);
  std::vector<double> plain;
  std::vector<double> bridged;
  std::vector<double> plain_nothing;
  std::vector<double> bridged_nothing;
  for (unsigned i = 0; i < pairs; ++i) {
    plain.push_back(message_ns(sender, receiver));
    bridged.push_back(message_ns(publisher, subscriber));
    plain_nothing.push_back(nothing_ns(receiver));
    bridged_nothing.push_back(nothing_ns(subscriber));
  }
  std::printf(
      "loan, publish and take of 64 bytes: C++ %.2f ns, Rust through the bridge %.2f ns: %.2f ns more per call\n",
      median(plain), median(bridged), (median(bridged) - median(plain)) / 3);
  std::printf("take without a message: C++ %.2f ns, Rust through the bridge %.2f ns\n", median(plain_nothing),
              median(bridged_nothing));
}
