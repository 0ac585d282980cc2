// Written by scripts/protocol from src/middlemark/model/samples.py: change that file instead.
// The records of the samples files, in their layout in the file. All times in ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// clang-format off
namespace middlemark {

/// Value of a field of four bytes if nothing was measured.
inline constexpr std::uint32_t absent_ns = 0xffffffff;

/// One completed round trip of a ping or a client, in order of sending.
struct Sample {
  static constexpr std::string_view npy_descr =
      "[('sequence', '<u8'), ('begin_ns', '<u8'), ('round_trip_ns', '<u8'), ('first_reply_ns', '<u8'), ('write_ns', '<u4'), ('take_ns', '<u4'), ('loan_ns', '<u4'), ('fill_ns', '<u4'), ('check_ns', '<u4'), ('replies', '<u4'), ('late_ns', '<u4'), ('arrived_ns', '<u4')]";

  /// The number of the round trip, from 1.
  std::uint64_t sequence = 0;
  /// Publish began, counted from the start of the measuring.
  std::uint64_t begin_ns = 0;
  /// Publish began → the last expected reply is in the application's hands.
  std::uint64_t round_trip_ns = 0;
  /// Publish began → the first expected reply is in the application's hands.
  std::uint64_t first_reply_ns = 0;
  /// Publish began → publish returned.
  std::uint32_t write_ns = absent_ns;
  /// The take that brought the last reply began → the reply is in hand; absent under `listen`.
  std::uint32_t take_ns = absent_ns;
  /// Obtaining the memory; absent if the step was not done. This and the next two fields are not part of the round trip.
  std::uint32_t loan_ns = absent_ns;
  /// Writing the payload.
  std::uint32_t fill_ns = absent_ns;
  /// Checking the reply.
  std::uint32_t check_ns = absent_ns;
  /// Replies that ended the round trip: the number of echoing pongs.
  std::uint32_t replies = 0;
  /// Intended instant → publish began; 0 under rate max.
  std::uint32_t late_ns = 0;
  /// The kernel received the last reply → the reply is in hand; absent if the kernel does not report it.
  std::uint32_t arrived_ns = absent_ns;
};
static_assert(sizeof(Sample) == 64 && offsetof(Sample, sequence) == 0 && offsetof(Sample, begin_ns) == 8 && offsetof(Sample, round_trip_ns) == 16 && offsetof(Sample, first_reply_ns) == 24 && offsetof(Sample, write_ns) == 32 && offsetof(Sample, take_ns) == 36 && offsetof(Sample, loan_ns) == 40 && offsetof(Sample, fill_ns) == 44 && offsetof(Sample, check_ns) == 48 && offsetof(Sample, replies) == 52 && offsetof(Sample, late_ns) == 56 && offsetof(Sample, arrived_ns) == 60);

/// One message that a pong or a server stamped while answering the message, in order. `received_ticks` minus the sender's
/// `start_ticks`, divided by the sender's `ticks_per_second`, is the time since the sender's measuring began. `begin_ns`
/// counts from the same instant.
struct Answer {
  static constexpr std::string_view npy_descr =
      "[('stamp', '<u8'), ('received_ticks', '<u8'), ('take_ns', '<u4'), ('copy_ns', '<u4'), ('write_ns', '<u4'), ('arrived_ns', '<u4')]";

  /// publisher id << 48 | sequence of the message. The id is 0 or the client's index; the sequence is the sender's own
  /// count from 1.
  std::uint64_t stamp = 0;
  /// Value of the raw counter when the message is in the application's hands.
  std::uint64_t received_ticks = 0;
  /// The take that brought the message began → the message is in hand. Absent under `listen`. If a take brings several
  /// messages, only the first has this time.
  std::uint32_t take_ns = absent_ns;
  /// The message is in hand → publish of the reply began: memory obtained, payload copied.
  std::uint32_t copy_ns = absent_ns;
  /// Publish of the reply began → publish returned.
  std::uint32_t write_ns = absent_ns;
  /// The kernel received the message → the message is in hand; absent if the kernel does not report it.
  std::uint32_t arrived_ns = absent_ns;
};
static_assert(sizeof(Answer) == 32 && offsetof(Answer, stamp) == 0 && offsetof(Answer, received_ticks) == 8 && offsetof(Answer, take_ns) == 16 && offsetof(Answer, copy_ns) == 20 && offsetof(Answer, write_ns) == 24 && offsetof(Answer, arrived_ns) == 28);

/// One stamped attempt of a publisher to publish, in order. Record i (from 0) belongs to sequence 1 + i × `stamped_every`.
struct Sending {
  static constexpr std::string_view npy_descr =
      "[('begin_ns', '<u8'), ('late_ns', '<u4'), ('write_ns', '<u4')]";

  /// Publish began, counted from the start of this publisher's measuring.
  std::uint64_t begin_ns = 0;
  /// Intended instant → publish began; 0 under rate max.
  std::uint32_t late_ns = 0;
  /// Publish began → publish returned; absent if nothing was sent.
  std::uint32_t write_ns = absent_ns;
};
static_assert(sizeof(Sending) == 16 && offsetof(Sending, begin_ns) == 0 && offsetof(Sending, late_ns) == 8 && offsetof(Sending, write_ns) == 12);

/// One message that was stamped when sent and arrived intact at a subscriber for the first time. Records are in order of
/// arrival.
struct Arrival {
  static constexpr std::string_view npy_descr =
      "[('stamp', '<u8'), ('received_ns', '<u8'), ('one_way_ns', '<u8')]";

  /// publisher id << 48 | sequence. The id is the publisher's index; the sequence is its own count from 1.
  std::uint64_t stamp = 0;
  /// CLOCK_MONOTONIC of the arrival.
  std::uint64_t received_ns = 0;
  /// Intended instant → the message is in the application's hands. Subtract `late_ns` of the publisher's record to count
  /// from the actual send.
  std::uint64_t one_way_ns = 0;
};
static_assert(sizeof(Arrival) == 24 && offsetof(Arrival, stamp) == 0 && offsetof(Arrival, received_ns) == 8 && offsetof(Arrival, one_way_ns) == 16);

/// A bucket that is not empty: `count` values v with lower_ns <= v < upper_ns. Buckets are in ascending order.
struct Bucket {
  static constexpr std::string_view npy_descr =
      "[('lower_ns', '<u8'), ('upper_ns', '<u8'), ('count', '<u8')]";

  std::uint64_t lower_ns = 0;
  std::uint64_t upper_ns = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(Bucket) == 24 && offsetof(Bucket, lower_ns) == 0 && offsetof(Bucket, upper_ns) == 8 && offsetof(Bucket, count) == 16);

}  // namespace middlemark
