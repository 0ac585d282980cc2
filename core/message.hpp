// The header of every message, and payloads that are written and checked byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace middlemark {

/// 16 bytes in host byte order. Workers on hosts with a different byte order are refused.
///   word 0   publisher id (16 bits) | warm-up (1 bit) | sequence (47 bits; the highest is set in history messages)
///   word 1   intended send time, in ticks of the sender's clock; untimed_ticks in unstamped messages
/// The publisher id distinguishes the publishers of one topic, and the pongs that reply to one ping. A warm-up message
/// is never counted, even if it arrives during the measurement. Sequence numbers of measured messages begin at 1.
struct Header {
  std::uint64_t stamp = 0;
  std::uint64_t intended_ticks = 0;

  static constexpr unsigned publisher_shift = 48;
  static constexpr std::uint64_t warm_up_bit = std::uint64_t{1} << 47;
  static constexpr std::uint64_t sequence_mask = warm_up_bit - 1;
  static constexpr std::uint64_t history_bit = std::uint64_t{1} << 46;
  static constexpr std::uint64_t untimed_ticks = ~std::uint64_t{0};

  [[nodiscard]] static constexpr Header make(unsigned publisher_id, bool warm_up, std::uint64_t sequence,
                                             std::uint64_t intended_ticks) noexcept {
    return {(static_cast<std::uint64_t>(publisher_id) << publisher_shift) | (warm_up ? warm_up_bit : 0) |
                (sequence & sequence_mask),
            intended_ticks};
  }
  [[nodiscard]] constexpr unsigned publisher_id() const noexcept {
    return static_cast<unsigned>(stamp >> publisher_shift);
  }
  [[nodiscard]] constexpr bool warm_up() const noexcept { return (stamp & warm_up_bit) != 0; }
  /// A warm-up message that was published before its subscribers joined.
  [[nodiscard]] constexpr bool history() const noexcept { return (stamp & history_bit) != 0; }
  [[nodiscard]] constexpr bool timed() const noexcept { return intended_ticks != untimed_ticks; }
  [[nodiscard]] constexpr std::uint64_t sequence() const noexcept { return stamp & sequence_mask; }
  /// Returns this header with another publisher id, for the reply of a pong.
  [[nodiscard]] constexpr Header from(unsigned publisher_id) const noexcept {
    return {(stamp & (warm_up_bit | sequence_mask)) | (static_cast<std::uint64_t>(publisher_id) << publisher_shift),
            intended_ticks};
  }
};
static_assert(sizeof(Header) == 16);

inline constexpr std::size_t header_bytes = sizeof(Header);

/// Two words that are stored and loaded with one instruction. If 16 bytes were stored as two words, a load of all 16
/// soon afterwards would wait until those stores, and all stores before them, are in the cache.
using TwoWords [[gnu::vector_size(16)]] = std::uint64_t;

/// `message` must have at least header_bytes bytes.
[[nodiscard]] inline Header read_header(std::span<const std::byte> message) noexcept {
  Header header;
  std::memcpy(&header, message.data(), header_bytes);
  return header;
}

/// Returns whether a message is a warm-up message. The message may have a wrong size. Only for unlikely branches.
[[nodiscard]] inline bool is_warm_up(std::span<const std::byte> message) noexcept {
  return message.size() >= header_bytes && read_header(message).warm_up();
}

inline void write_header(std::span<std::byte> message, const Header& header) noexcept {
  const TwoWords words{header.stamp, header.intended_ticks};
  std::memcpy(message.data(), &words, header_bytes);
}

// The payload's pattern: the 8-byte word at index i is base(sequence) + i * step. Every word differs from its
// neighbours and from the word at the same index in the previous message, so a stale, shifted, truncated or zeroed
// payload is always found. The pattern is simple enough to be written and checked at the speed of memory.
namespace pattern {

inline constexpr std::uint64_t step = 0x9E3779B97F4A7C15ULL;

/// Returns the pattern's first word. It ignores the publisher id, because a reply has the payload of its request.
[[nodiscard]] constexpr std::uint64_t base(const Header& header) noexcept {
  return (header.stamp & (Header::warm_up_bit | Header::sequence_mask)) * 0xD1B54A32D192ED03ULL + 1;
}

}  // namespace pattern

/// Writes all bytes after the header.
inline void fill_payload(std::span<std::byte> message, const Header& header) noexcept {
  std::byte* out = message.data() + header_bytes;
  const std::size_t bytes = message.size() - header_bytes;
  const std::uint64_t base = pattern::base(header);
  const std::size_t words = bytes / 8;
  TwoWords two{base, base + pattern::step};
  std::size_t i = 0;
  for (; i + 2 <= words; i += 2, two += 2 * pattern::step) std::memcpy(out + i * 8, &two, 16);
  if (i < words) {
    const std::uint64_t word = base + i * pattern::step;
    std::memcpy(out + i * 8, &word, 8);
  }
  const std::uint64_t tail = base + words * pattern::step;
  std::memcpy(out + words * 8, &tail, bytes % 8);
}

/// Returns whether all bytes after the header are as fill_payload() writes them for that header.
[[nodiscard]] inline bool payload_intact(std::span<const std::byte> message, const Header& header) noexcept {
  const std::byte* in = message.data() + header_bytes;
  const std::size_t bytes = message.size() - header_bytes;
  const std::uint64_t base = pattern::base(header);
  const std::size_t words = bytes / 8;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, in + i * 8, 8);
    wrong |= word ^ (base + i * pattern::step);
  }
  const std::uint64_t tail = base + words * pattern::step;
  return wrong == 0 && std::memcmp(in + words * 8, &tail, bytes % 8) == 0;
}

}  // namespace middlemark
