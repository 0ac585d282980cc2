// Measures how long the kit or an adapter takes to serialise and deserialise typed messages. Publishers and subscribers
// of octets have no such times.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>

namespace middlemark {

/// The times of serialising one publisher's messages, or of deserialising one subscriber's messages, during the
/// measurement. The result is their median, because a mean would follow the few messages during which the thread lost
/// its processor. Keeps 256 to 512 values, evenly spread over all messages (2 KiB). Only the thread that (de)serialises
/// adds values.
class CodingTimes {
 public:
  /// The worker's clock, for code that a middleware calls and that therefore gets no clock from a role. Set before the
  /// adapter opens the middleware.
  static inline Clock clock;

  /// Starts the recording. Any thread may call it.
  void begin() noexcept { measured_.store(true, std::memory_order_relaxed); }
  void add(std::uint64_t ticks) noexcept {
    if (!measured_.load(std::memory_order_relaxed) || (messages_++ & (stride_ - 1)) != 0) return;
    if (kept_ == ticks_.size()) thin_out();
    ticks_[kept_++] = static_cast<std::uint32_t>(std::min(ticks, longest));
  }
  /// Calls `code`, which (de)serialises one message.
  template <class Code>
  auto time(Code&& code) {
    const std::uint64_t begin = clock.ticks();
    auto result = code();
    add(clock.ticks() - begin);
    return result;
  }
  /// Returns the median, or nullopt if no message was recorded. Call after the end.
  [[nodiscard]] std::optional<std::uint64_t> p50_ns() const noexcept {
    if (kept_ == 0) return std::nullopt;
    std::array<std::uint32_t, most> ticks = ticks_;
    std::uint32_t* const middle = ticks.data() + (kept_ - 1) / 2;
    std::nth_element(ticks.data(), middle, ticks.data() + kept_);
    return clock.to_ns(*middle);
  }

 private:
  static constexpr std::size_t most = 512;
  static constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();

  /// Drops every second value and doubles the stride. The number of the current message is a multiple of the doubled
  /// stride too, so its value is still added.
  void thin_out() noexcept {
    for (std::size_t i = 0; i < most / 2; ++i) ticks_[i] = ticks_[2 * i];
    kept_ = most / 2;
    stride_ *= 2;
  }

  std::atomic<bool> measured_{false};
  std::uint64_t messages_ = 0;
  std::uint64_t stride_ = 1;  ///< a power of two
  std::size_t kept_ = 0;
  std::array<std::uint32_t, most> ticks_{};
};

/// Returns a new object, or null for octets, which are not serialised.
[[nodiscard]] inline std::unique_ptr<CodingTimes> make_times(MessageType type) {
  return type == MessageType::octets ? nullptr : std::make_unique<CodingTimes>();
}

/// Returns the times of a publisher or subscriber; null if it has none.
template <class End>
[[nodiscard]] CodingTimes* serializing(End& end) noexcept {
  if constexpr (ReportsSerializing<End>) return end.serializing();
  return nullptr;
}
template <class End>
[[nodiscard]] CodingTimes* deserializing(End& end) noexcept {
  if constexpr (ReportsDeserializing<End>) return end.deserializing();
  return nullptr;
}

inline void begin_timing(CodingTimes* times) noexcept {
  if (times != nullptr) times->begin();
}
[[nodiscard]] inline std::optional<std::uint64_t> p50_ns(const CodingTimes* times) noexcept {
  return times != nullptr ? times->p50_ns() : std::nullopt;
}

}  // namespace middlemark
