// When a pong had a message in hand, when it had copied it and when its reply had left: of some messages, so that a round trip can be split into its parts
// without the stamps becoming one of them. Hot file: once the role has started nothing here allocates, locks, logs or throws.
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

/// How long the sender will go on, as far as that is known: what is kept must reach to the end.
struct AnswersDue {
  std::optional<std::uint64_t> messages;
  std::optional<double> duration_s;
};

/// Longer than a publisher's, and odd all the same: one number of answers tells the parts of a round trip as well as another.
inline constexpr std::array<std::uint64_t, 8> answer_strides{1, 3, 7, 13, 31, 61, 127, 251};

/// Of how many messages one is stamped: so many that the stamps cost at most a four-hundredth of what a message typically takes
/// (`message_ns`; 0: not known yet, the next is stamped), or the longest stride there is. Still longer ones only where `room`
/// records would not reach to the end.
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
  // A tenth more: the messages to come may be faster than those so far. Odd: see answer_strides.
  const auto reaching = static_cast<std::uint64_t>(expected * 1.1 / static_cast<double>(room)) | 1U;
  return std::max(stride, reaching);
}

/// A running median: each value moves it by an eighth. A mean would follow the stalls of a busy machine, which take a thousand
/// times what a message does. 0 before the first value.
class TypicalTime {
 public:
  void see(double ns) noexcept {
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

/// Used by the thread that visits messages.
class AnswerStamps {
 public:
  /// Records: 4 MiB, spread over the whole of the measuring.
  static constexpr std::size_t most_kept = std::size_t{1} << 17;
  /// Three instants in the visit, one before the take, and the record.
  static constexpr double readings = 5;

  /// `arrivals`: the subscriber tells when the kernel received a message, which takes three more readings.
  AnswerStamps(const Clock& clock, bool keeps, const AnswersDue& due, bool arrivals)
      : clock_(clock),
        due_(due),
        cost_ns_((readings + (arrivals ? 3 : 0)) * clock.cost_ns()),
        recorder_(keeps ? most_kept : 0),
        until_(keeps ? 1 : never) {}

  /// The next message that comes is one to be stamped.
  [[nodiscard]] bool due() const noexcept { return until_ == 1; }

  void takes() noexcept {
    if (due()) [[unlikely]]
      take_ = clock_.early_ticks();
  }
  void received() noexcept { received_ = clock_.ticks(); }
  void begins() noexcept { begin_ = clock_.ticks(); }
  void written() noexcept { written_ = clock_.ticks(); }

  /// The answer to a measured message is out. `arrived_ns` is asked for a message that was stamped: the CLOCK_REALTIME instant at
  /// which the kernel received it, 0 where it does not tell.
  template <class Arrived>
  void answered(const Header& header, Arrived&& arrived_ns) noexcept {
    if (until_ != 1) [[likely]] {
      --until_;
      return;
    }
    Answer answer;
    answer.stamp = header.stamp;
    answer.received_ticks = received_;
    // A second message of one take was waiting while the first was answered: its take cannot be told.
    if (take_ != 0) answer.take_ns = clamp_ns(clock_.to_ns(received_ - std::min(take_, received_)));
    answer.copy_ns = clamp_ns(clock_.to_ns(begin_ - received_));
    answer.write_ns = clamp_ns(clock_.to_ns(written_ - begin_));
    answer.arrived_ns = since_realtime_ns(clock_, arrived_ns(), received_);
    take_ = 0;
    if (last_ != 0) typical_.see(static_cast<double>(clock_.to_ns(received_ - last_)) / static_cast<double>(stride_));
    last_ = received_;
    stride_ = recorder_.keep(answer) ? answer_stride(cost_ns_, typical_.ns(), due_, recorder_.capacity()) : never;
    until_ = stride_;
  }
  /// What was visited was not answered, or not measured.
  void passed() noexcept { take_ = 0; }

  [[nodiscard]] const Recorder<Answer>& recorder() const noexcept { return recorder_; }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  const Clock clock_;
  const AnswersDue due_;
  const double cost_ns_;
  Recorder<Answer> recorder_;
  std::uint64_t until_;  // messages until the next one that is stamped, that one included
  std::uint64_t stride_ = 1;
  TypicalTime typical_;  // from message to message
  std::uint64_t last_ = 0;
  std::uint64_t take_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace middlemark
