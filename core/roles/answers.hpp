// Stamps of a pong's work: when it had received a message, copied it and published the reply. Only some messages are
// stamped, so that the stamps themselves do not lengthen the round trip. Hot file: once the role has started, the code
// here does not allocate, lock, log or throw.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/realtime.hpp>
#include <middlemark/recorder.hpp>

namespace middlemark {

/// The length of the measurement, if known. The stamped messages are spread over all of it.
struct AnswersDue {
  std::optional<std::uint64_t> messages;
  std::optional<double> duration_s;
};

/// Strides for stamping replies. Few stamps are enough to split a round trip into its parts. The strides are odd for the
/// same reason as `stamp_strides`.
inline constexpr std::array<std::uint64_t, 8> answer_strides{1, 3, 7, 13, 31, 61, 127, 251};

/// Returns the stride: of each `stride` messages, the first is stamped. It is the shortest of answer_strides with which
/// stamps cost at most 1/400 of `message_ns`, the typical time between two messages, or else the longest of them. The
/// stride is longer if `room` records would be used up before the end of the measurement. It is 1 if `message_ns` is 0
/// (not known yet).
[[nodiscard]] constexpr std::uint64_t answer_stride(double stamps_ns, double message_ns, const AnswersDue& due,
                                                    std::size_t room) noexcept {
  if (message_ns <= 0) return 1;
  const double part = stamps_ns / message_ns;
  std::uint64_t stride = answer_strides.front();
  for (const std::uint64_t longer : answer_strides) {
    stride = longer;
    if (part / static_cast<double>(stride) <= 0.0025) break;
  }
  const double expected = due.messages     ? static_cast<double>(*due.messages)
                          : due.duration_s ? *due.duration_s * 1e9 / message_ns
                                           : 0;
  // Reserve 10 %, since later messages may be faster. Keep the stride odd, as answer_strides are.
  const auto reaching = static_cast<std::uint64_t>(expected * 1.1 / static_cast<double>(room)) | 1U;
  return std::max(stride, reaching);
}

/// An estimate of the median: each new value moves it up or down by an eighth. A mean would be determined by the stalls
/// of a busy machine, which last a thousand times longer than a message. The estimate is 0 before the first value.
class TypicalTime {
 public:
  void add(double ns) noexcept {
    if (ns_ == 0) {
      ns_ = ns;
    } else if (ns != ns_) {
      ns_ *= ns < ns_ ? 0.875 : 1.125;
    }
  }
  [[nodiscard]] double ns() const noexcept { return ns_; }

 private:
  double ns_ = 0;
};

/// Decides which messages are stamped and keeps the stamps. Used by the thread that visits messages.
class AnswerStamps {
 public:
  /// The largest number of records, which take 4 MiB and are spread over the whole measurement.
  static constexpr std::size_t most_kept = std::size_t{1} << 17;
  /// Cost of stamping a message, in clock readings: three in the visit, one before the take, one for the record.
  static constexpr double readings = 5;

  /// `arrivals`: the subscriber has the kernel's receive time, whose conversion takes three more clock readings.
  AnswerStamps(const Clock& clock, bool keeps, const AnswersDue& due, bool arrivals)
      : clock_(clock),
        due_(due),
        cost_ns_((readings + (arrivals ? 3 : 0)) * clock.cost_ns()),
        recorder_(keeps ? most_kept : 0),
        until_(keeps ? 1 : never) {}

  [[nodiscard]] bool due() const noexcept { return until_ == 1; }

  void before_take() noexcept {
    if (due()) [[unlikely]]
      take_ = clock_.early_ticks();
  }
  void received() noexcept { received_ = clock_.ticks(); }
  void copied() noexcept { copied_ = clock_.ticks(); }
  void published() noexcept { published_ = clock_.ticks(); }

  /// Call after the reply to a measured message was published. `arrived_ns` is called only for a stamped message: it
  /// returns the CLOCK_REALTIME instant at which the kernel received the message, or 0 if unknown.
  template <class Arrived>
  void answered(const Header& header, Arrived&& arrived_ns) noexcept {
    if (until_ != 1) [[likely]] {
      --until_;
      return;
    }
    Answer answer;
    answer.stamp = header.stamp;
    answer.received_ticks = received_;
    // Only the first message of a take has a take_ other than 0. Later messages waited for the replies to earlier ones,
    // so their take time is unknown.
    if (take_ != 0) answer.take_ns = clamp_ns(clock_.to_ns(received_ - std::min(take_, received_)));
    answer.copy_ns = clamp_ns(clock_.to_ns(copied_ - received_));
    answer.write_ns = clamp_ns(clock_.to_ns(published_ - copied_));
    answer.arrived_ns = since_realtime_ns(clock_, arrived_ns(), received_);
    take_ = 0;
    if (last_ != 0) typical_.add(static_cast<double>(clock_.to_ns(received_ - last_)) / static_cast<double>(stride_));
    last_ = received_;
    stride_ = recorder_.keep(answer) ? answer_stride(cost_ns_, typical_.ns(), due_, recorder_.capacity()) : never;
    until_ = stride_;
  }
  /// Call when the visited message was not answered or is not measured.
  void skipped() noexcept { take_ = 0; }

  [[nodiscard]] const Recorder<Answer>& recorder() const noexcept { return recorder_; }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  const Clock clock_;
  const AnswersDue due_;
  const double cost_ns_;
  Recorder<Answer> recorder_;
  std::uint64_t until_;  // messages up to and including the next stamped one
  std::uint64_t stride_ = 1;
  TypicalTime typical_;  // between two messages
  std::uint64_t last_ = 0;
  std::uint64_t take_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t published_ = 0;
};

}  // namespace middlemark
