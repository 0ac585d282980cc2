#include <middlemark/message.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace middlemark::message_test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(std::size_t size, const Header& header) {
  Bytes message(size, std::byte{0xEE});
  write_header(message, header);
  fill_payload(message, header);
  return message;
}

Header measured(std::uint64_t sequence) { return Header::make(0, false, sequence, 0); }

const std::vector<std::size_t> odd_large_sizes{1023, 4097, 65'521, 1'048'575, 1'048'583};

TEST(Header, every_field_survives_packing_at_its_extremes) {
  for (const unsigned publisher_id : {0U, 1U, 7U, 0x7FFFU, 0xFFFFU}) {
    for (const bool warm_up : {false, true}) {
      for (const std::uint64_t sequence : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32,
                                           (std::uint64_t{1} << 46) + 5, Header::sequence_mask}) {
        for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
          const Header header = Header::make(publisher_id, warm_up, sequence, ticks);
          EXPECT_EQ(header.publisher_id(), publisher_id);
          EXPECT_EQ(header.warm_up(), warm_up);
          EXPECT_EQ(header.sequence(), sequence);
          EXPECT_EQ(header.intended_ticks, ticks);
        }
      }
    }
  }
}

TEST(Header, a_sequence_of_more_than_47_bits_changes_no_other_field) {
  const Header header = Header::make(3, false, ~std::uint64_t{0}, 9);
  EXPECT_EQ(header.publisher_id(), 3U);
  EXPECT_FALSE(header.warm_up());
  EXPECT_EQ(header.sequence(), Header::sequence_mask);
}

TEST(Header, a_reply_is_the_same_message_from_another_publisher) {
  for (const bool warm_up : {false, true}) {
    const Header reply = Header::make(0xFFFF, warm_up, 12345, 678).from(2);
    EXPECT_EQ(reply.publisher_id(), 2U);
    EXPECT_EQ(reply.warm_up(), warm_up);
    EXPECT_EQ(reply.sequence(), 12345U);
    EXPECT_EQ(reply.intended_ticks, 678U);
  }
}

TEST(Header, is_read_as_written_and_touches_16_bytes_only) {
  Bytes message(32, std::byte{0x5A});
  const Header header = Header::make(513, true, 99, 0x0123456789ABCDEFULL);
  write_header(message, header);
  const Header found = read_header(message);
  EXPECT_EQ(found.stamp, header.stamp);
  EXPECT_EQ(found.intended_ticks, header.intended_ticks);
  EXPECT_TRUE(std::all_of(message.begin() + 16, message.end(), [](std::byte b) { return b == std::byte{0x5A}; }));
}

TEST(Payload, is_intact_when_filled_at_every_size_from_16_to_300_bytes) {
  for (std::size_t size = header_bytes; size <= 300; ++size) {
    const Header header = measured(size);
    EXPECT_TRUE(payload_intact(filled(size, header), header)) << size << " bytes";
  }
}

TEST(Payload, is_intact_when_filled_at_large_odd_sizes) {
  for (const std::size_t size : odd_large_sizes) {
    const Header header = measured(size);
    EXPECT_TRUE(payload_intact(filled(size, header), header)) << size << " bytes";
  }
}

TEST(Payload, filling_changes_neither_the_header_nor_bytes_after_the_message) {
  for (std::size_t size = header_bytes; size <= 64; ++size) {
    Bytes memory(size + 16, std::byte{0xEE});
    fill_payload(std::span(memory).first(size), measured(1));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (i < header_bytes || i >= size) {
        EXPECT_EQ(memory[i], std::byte{0xEE}) << size << " bytes, at " << i;
      }
    }
  }
}

TEST(Payload, every_flipped_bit_is_found_at_every_size_up_to_200_bytes) {
  for (std::size_t size = header_bytes + 1; size <= 200; ++size) {
    const Header header = measured(size * 7919);
    Bytes message = filled(size, header);
    for (std::size_t at = header_bytes; at < size; ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        message[at] ^= std::byte{1} << bit;
        ASSERT_FALSE(payload_intact(message, header)) << size << " bytes, byte " << at << ", bit " << bit;
        message[at] ^= std::byte{1} << bit;
      }
      message[at] ^= std::byte{0xFF};
      ASSERT_FALSE(payload_intact(message, header)) << size << " bytes, byte " << at;
      message[at] ^= std::byte{0xFF};
    }
    ASSERT_TRUE(payload_intact(message, header));
  }
}

TEST(Payload, a_flipped_byte_is_found_anywhere_in_a_large_message) {
  std::mt19937_64 random(1);
  for (const std::size_t size : odd_large_sizes) {
    const Header header = measured(3);
    Bytes message = filled(size, header);
    std::vector<std::size_t> places{header_bytes, size - 1, size - 2, size - 8};
    for (int i = 0; i < 20; ++i) places.push_back(header_bytes + random() % (size - header_bytes));
    for (const std::size_t at : places) {
      message[at] ^= std::byte{0x10};
      EXPECT_FALSE(payload_intact(message, header)) << size << " bytes, byte " << at;
      message[at] ^= std::byte{0x10};
    }
  }
}

TEST(Payload, every_single_byte_differs_from_the_same_byte_of_the_message_before) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t sequence = random() % (Header::sequence_mask - 1) + 1;
    const std::size_t size = header_bytes + 1 + random() % 200;
    const Bytes before = filled(size, measured(sequence));
    const Bytes after = filled(size, measured(sequence + 1));
    for (std::size_t at = header_bytes; at < size; ++at) {
      ASSERT_NE(before[at], after[at]) << size << " bytes, sequence " << sequence << ", byte " << at;
    }
  }
}

TEST(Payload, a_stale_tail_of_the_previous_message_is_found_however_short_it_is) {
  for (std::size_t size = header_bytes + 1; size <= 200; ++size) {
    const Header header = measured(42);
    const Bytes stale = filled(size, measured(41));
    for (std::size_t tail = 1; tail <= size - header_bytes; ++tail) {
      Bytes message = filled(size, header);
      std::copy(stale.end() - static_cast<std::ptrdiff_t>(tail), stale.end(),
                message.end() - static_cast<std::ptrdiff_t>(tail));
      ASSERT_FALSE(payload_intact(message, header)) << size << " bytes, stale tail of " << tail;
    }
  }
}

TEST(Payload, a_zeroed_tail_is_found_unless_the_bytes_were_zero_already) {
  for (std::size_t size = header_bytes + 1; size <= 200; ++size) {
    const Header header = measured(size);
    const Bytes right = filled(size, header);
    for (std::size_t tail = 1; tail <= size - header_bytes; ++tail) {
      Bytes message = right;
      std::fill(message.end() - static_cast<std::ptrdiff_t>(tail), message.end(), std::byte{0});
      ASSERT_EQ(payload_intact(message, header), message == right) << size << " bytes, zeroed tail of " << tail;
      if (tail < 8) continue;
      ASSERT_NE(message, right) << "the pattern has a run of eight zero bytes at " << size;
    }
  }
}

TEST(Payload, a_payload_shifted_by_one_to_sixteen_bytes_is_found) {
  for (const std::size_t size : {std::size_t{64}, std::size_t{100}, std::size_t{1021}, std::size_t{4096}}) {
    const Header header = measured(17);
    const Bytes right = filled(size, header);
    for (std::ptrdiff_t shift = 1; shift <= 16; ++shift) {
      Bytes later = right;
      std::copy(right.begin() + 16, right.end() - shift, later.begin() + 16 + shift);
      EXPECT_FALSE(payload_intact(later, header)) << size << " bytes, shifted back by " << shift;
      Bytes earlier = right;
      std::copy(right.begin() + 16 + shift, right.end(), earlier.begin() + 16);
      EXPECT_FALSE(payload_intact(earlier, header)) << size << " bytes, shifted forward by " << shift;
    }
  }
}

TEST(Payload, exchanged_words_are_found) {
  const Header header = measured(5);
  Bytes message = filled(256, header);
  for (std::size_t word = 0; word + 1 < (256 - header_bytes) / 8; ++word) {
    const auto at = message.begin() + static_cast<std::ptrdiff_t>(header_bytes + word * 8);
    std::swap_ranges(at, at + 8, at + 8);
    EXPECT_FALSE(payload_intact(message, header)) << "words " << word << " and its successor";
    std::swap_ranges(at, at + 8, at + 8);
  }
}

TEST(Payload, the_payload_of_another_sequence_is_always_found) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t one = random() & Header::sequence_mask;
    const std::uint64_t other = random() & Header::sequence_mask;
    ASSERT_EQ(payload_intact(filled(24, measured(one)), measured(other)), one == other) << one << " " << other;
  }
}

TEST(Payload, a_warm_up_message_differs_from_the_measured_message_of_the_same_sequence) {
  // The payloads differ in the upper bits of each word, so at least six bytes are needed to see the difference.
  for (std::size_t size = header_bytes + 6; size <= 100; ++size) {
    const Header warm_up = Header::make(0, true, 8, 0);
    EXPECT_FALSE(payload_intact(filled(size, warm_up), measured(8))) << size << " bytes";
    EXPECT_FALSE(payload_intact(filled(size, measured(8)), warm_up)) << size << " bytes";
  }
}

TEST(Payload, neither_the_source_nor_the_intended_time_changes_it) {
  const Header asked = Header::make(0, false, 77, 1000);
  const Bytes message = filled(123, asked);
  for (const unsigned publisher_id : {1U, 255U, 0xFFFFU}) {
    EXPECT_TRUE(payload_intact(message, asked.from(publisher_id)));
    const Bytes other = filled(123, Header::make(publisher_id, false, 77, 2000));
    EXPECT_TRUE(std::equal(message.begin() + 16, message.end(), other.begin() + 16));
  }
}

}  // namespace
}  // namespace middlemark::message_test
