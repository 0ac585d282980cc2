// Tests that typed messages are serialised and deserialised completely, and that wrong constant fields are found.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/coding.hpp>
#include <middlemark/kit/cdr.hpp>
#include <middlemark/message.hpp>

#include "null/adapter.hpp"
#include "support/trial.hpp"

namespace middlemark::messages_test {
namespace {

using kit::CdrCoding;
using TypedNull = kit::Typed<Null, CdrCoding>;
static_assert(fulfils_contract<TypedNull> && HasRequestReply<TypedNull> && Listens<SubscriberOf<TypedNull>>);

struct Case {
  MessageType type;
  std::size_t bytes;
};
const std::vector<Case> cases{{MessageType::image, 1001},
                              {MessageType::point_cloud, 1024},
                              {MessageType::imu, kit::imu_bytes},
                              {MessageType::tf, 3 * kit::transform_bytes}};

std::vector<std::byte> encoded(kit::CodedMessage& message, const Case& of) {
  std::vector<std::byte> bytes(kit::coded_bytes<CdrCoding>(of.type, of.bytes));
  EXPECT_EQ(message.encode(bytes), bytes.size());
  return bytes;
}

void fill(std::span<std::byte> array) {
  const Header header = Header::make(0, false, 7, 1);
  write_header(array, header);
  fill_payload(array, header);
}

TEST(Messages, are_unchanged_after_coding_and_decoding) {
  for (const Case& each : cases) {
    const auto sent = kit::make_coded<CdrCoding>(each.type, each.bytes);
    const auto seen = kit::make_coded<CdrCoding>(each.type, each.bytes);
    ASSERT_EQ(sent->array().size(), each.bytes);
    fill(sent->array());
    const auto array = seen->decode(encoded(*sent, each));
    ASSERT_EQ(array.size(), each.bytes) << word(each.type);
    EXPECT_TRUE(std::ranges::equal(array, sent->array())) << word(each.type);
  }
}

TEST(Messages, are_larger_than_their_main_array_by_the_documented_bytes) {
  const std::vector<std::size_t> on_top{56, 145, 28, 132};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& each = cases[i];
    EXPECT_EQ(kit::coded_bytes<CdrCoding>(each.type, each.bytes) - each.bytes, on_top[i]) << word(each.type);
  }
}

/// `unseen` is the number of bytes of a message whose change the receiver does not notice. These are the options in
/// CDR's own header (2), the stamps' nanoseconds (4), padding, and the length of "wheel_link", which CDR allows with
/// and without its terminator.
TEST(Messages, a_changed_byte_is_found_or_visible_in_the_main_array) {
  const std::vector<std::size_t> unseen{2 + 4 + 1, 2 + 4 + 23, 2 + 4, 2 + 3 * 4 + 7 + 3};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& each = cases[i];
    const auto sent = kit::make_coded<CdrCoding>(each.type, each.bytes);
    const auto seen = kit::make_coded<CdrCoding>(each.type, each.bytes);
    fill(sent->array());
    const std::vector<std::byte> right = encoded(*sent, each);
    std::size_t unnoticed = 0;
    for (std::size_t at = 0; at < right.size(); ++at) {
      std::vector<std::byte> wrong = right;
      wrong[at] ^= std::byte{1};
      const auto array = seen->decode(wrong);
      unnoticed += array.size() == each.bytes && std::ranges::equal(array, sent->array()) ? 1 : 0;
    }
    EXPECT_EQ(unnoticed, unseen[i]) << word(each.type);
  }
}

TEST(Messages, each_wrong_constant_shortens_the_visited_array) {
  using Shape = kit::messages::Image<CdrCoding>;
  const auto seen_with = [](auto&& change) {
    kit::MessageOf<kit::messages::Image, CdrCoding> message(1000);
    fill(message.array());
    change(message.message());
    return message.received().size();
  };
  EXPECT_EQ(seen_with([](Shape::Struct&) {}), 1000U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { it.header.frame_id = "sensor_lino"; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { ++it.header.stamp.sec; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { ++it.height; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { ++it.width; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { ++it.step; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { it.encoding = "mono16"; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { it.is_bigendian = 1; }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { it.data.push_back(0); }), 999U);
  EXPECT_EQ(seen_with([](Shape::Struct& it) { it.data.clear(); }), 0U);
}

TEST(Messages, a_wrong_field_of_a_cloud_or_frame_of_a_tf_shortens_the_visited_array) {
  kit::MessageOf<kit::messages::PointCloud, CdrCoding> cloud(64);
  EXPECT_EQ(cloud.received().size(), 64U);
  cloud.message().fields[2].name = "w";
  EXPECT_EQ(cloud.received().size(), 63U);
  kit::MessageOf<kit::messages::Tf, CdrCoding> tf(112);
  EXPECT_EQ(tf.received().size(), 112U);
  tf.message().transforms[1].child_frame_id = "elsewhere";
  EXPECT_EQ(tf.received().size(), 111U);
  tf.message().transforms.clear();
  EXPECT_LT(tf.received().size(), 112U);
  kit::MessageOf<kit::messages::Imu, CdrCoding> imu(kit::imu_bytes);
  EXPECT_EQ(imu.received().size(), kit::imu_bytes);
  imu.message().header.frame_id.clear();
  EXPECT_EQ(imu.received().size(), kit::imu_bytes - 1);
}

TEST(Messages, damaged_bytes_of_any_kind_shorten_the_visited_array) {
  const auto seen = kit::make_coded<CdrCoding>(MessageType::tf, 112);
  EXPECT_EQ(seen->decode({}).size(), 0U);
  const std::vector<std::byte> few(3);
  EXPECT_EQ(seen->decode(few).size(), 0U);
  const auto sent = kit::make_coded<CdrCoding>(MessageType::tf, 112);
  std::vector<std::byte> bytes = encoded(*sent, {MessageType::tf, 112});
  bytes.resize(bytes.size() / 2);
  EXPECT_LT(seen->decode(bytes).size(), 112U);
}

TEST(Messages, report_coding_times_once_the_measurement_begins) {
  CodingTimes times;
  const Case image{MessageType::image, 1 << 20};
  const auto sent = kit::make_coded<CdrCoding>(image.type, image.bytes);
  sent->add_to(&times);
  static_cast<void>(encoded(*sent, image));
  EXPECT_GT(sent->took(), 0U);
  EXPECT_EQ(times.p50_ns(), std::nullopt);
  times.begin();
  static_cast<void>(encoded(*sent, image));
  EXPECT_EQ(times.p50_ns(), CodingTimes::clock.to_ns(sent->took()));
}

TEST(Messages, of_a_long_trial_have_a_median_of_evenly_spread_times) {
  CodingTimes few;
  few.begin();
  for (const std::uint64_t ticks : std::array<std::uint64_t, 3>{900, 100, 500}) few.add(ticks);
  EXPECT_EQ(few.p50_ns(), 500U);
  CodingTimes many;
  many.begin();
  for (std::uint64_t ticks = 1; ticks <= 100'000; ++ticks) many.add(ticks);
  EXPECT_NEAR(static_cast<double>(many.p50_ns().value_or(0)), 50'000, 1000);
}

TEST(Messages, reject_sizes_that_a_type_cannot_have) {
  EXPECT_TRUE(kit::fits(MessageType::octets, 17) && kit::fits(MessageType::image, 17));
  EXPECT_TRUE(kit::fits(MessageType::imu, 296) && !kit::fits(MessageType::imu, 295));
  EXPECT_TRUE(kit::fits(MessageType::tf, 112) && !kit::fits(MessageType::tf, 120));
  EXPECT_TRUE(kit::fits(MessageType::point_cloud, 32) && !kit::fits(MessageType::point_cloud, 40));
}

/// Publishes messages of a type over the null adapter. The native setting `damage` selects the message that it damages.
class OverNull : public ::testing::Test {
 protected:
  std::vector<std::size_t> sizes_seen(MessageType type, std::size_t bytes, const std::string& damage) {
    Settings settings = test::trial_settings(Reception::poll, bytes);
    settings.pattern = Pattern::stream;
    settings.type = type;
    settings.native = {{"at", "publisher"}};
    if (!damage.empty()) settings.native["damage"] = damage;
    settings.topics = {{.message_bytes = bytes, .publishers = {0}, .subscribers = {0}, .depth = 16, .type = type}};
    const Topic topic{settings.scope + "_stream0", bytes, 1, 1, 16, Reliability::reliable, type};
    settings.endpoints = {topic};
    TypedNull adapter(settings);
    auto subscriber = adapter.subscriber(topic, 0);
    auto publisher = adapter.publisher(topic, 0);
    begin_timing(serializing(publisher));
    begin_timing(deserializing(subscriber));
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
      const std::span<std::byte> array = publisher.loan(bytes);
      EXPECT_EQ(array.size(), bytes);
      const Header header = Header::make(0, false, sequence, 1);
      write_header(array, header);
      fill_payload(array, header);
      EXPECT_EQ(publisher.publish(), Published::ok);
    }
    std::vector<std::size_t> sizes;
    auto visitor = [&](std::span<const std::byte> message) noexcept {
      sizes.push_back(message.size());
      if (message.size() == bytes) {
        EXPECT_TRUE(payload_intact(message, read_header(message)));
      }
    };
    subscriber.take(visitor);
    last_error_ = subscriber.last_error();
    serialize_ns_ = p50_ns(serializing(publisher));
    deserialize_ns_ = p50_ns(deserializing(subscriber));
    return sizes;
  }
  std::string last_error_;
  std::optional<std::uint64_t> serialize_ns_;
  std::optional<std::uint64_t> deserialize_ns_;
};

TEST_F(OverNull, typed_messages_are_visited_as_their_main_array) {
  for (const Case& each : cases) {
    EXPECT_EQ(sizes_seen(each.type, each.bytes, ""), std::vector<std::size_t>(3, each.bytes)) << word(each.type);
    EXPECT_EQ(last_error_, "");
    EXPECT_GT(serialize_ns_.value_or(0), 0U) << word(each.type);
    EXPECT_GT(deserialize_ns_.value_or(0), 0U) << word(each.type);
  }
}

TEST_F(OverNull, octets_are_delivered_unchanged) {
  EXPECT_EQ(sizes_seen(MessageType::octets, 64, ""), std::vector<std::size_t>(3, 64));
  EXPECT_FALSE(serialize_ns_ || deserialize_ns_);
}

}  // namespace
}  // namespace middlemark::messages_test
