#include <middlemark/histogram.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/npy.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

namespace middlemark::histogram_test {
namespace {

using Bucket = Bucket;

std::vector<Bucket> buckets_of(const Histogram& histogram) {
  std::vector<Bucket> buckets;
  histogram.for_each([&buckets](std::uint64_t lower, std::uint64_t upper, std::uint64_t count) {
    buckets.push_back({lower, upper, count});
  });
  return buckets;
}

Bucket bucket_of(std::uint64_t value) {
  Histogram histogram;
  histogram.add(value);
  const std::vector<Bucket> buckets = buckets_of(histogram);
  EXPECT_EQ(buckets.size(), 1U) << value;
  return buckets.at(0);
}

/// Returns `count` random values up to the largest possible value, with the same number of values in every octave.
std::vector<std::uint64_t> values_of_every_octave(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = (random() >> 1) >> (random() % 63);
  return values;
}

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, std::uint64_t q_per_mille) {
  const std::uint64_t rank = (q_per_mille * sorted.size() + 999) / 1000;
  return sorted[std::max<std::uint64_t>(rank, 1) - 1];
}

void expect_quantiles_of(std::vector<std::uint64_t> values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.add(value);
  std::sort(values.begin(), values.end());
  for (std::uint64_t per_mille = 0; per_mille <= 1000; ++per_mille) {
    const std::uint64_t exact = nearest_rank(values, per_mille);
    const std::optional<std::uint64_t> value = histogram.quantile(static_cast<double>(per_mille) / 1000);
    ASSERT_TRUE(value.has_value());
    const std::uint64_t apart = *value > exact ? *value - exact : exact - *value;
    ASSERT_LE(apart, exact / 256) << per_mille << " per mille of " << values.size() << " values: " << exact
                                  << ", returned: " << *value;
  }
}

TEST(Histogram, without_values_has_no_quantile) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.max_seen(), 0U);
  EXPECT_EQ(histogram.quantile(0.5), std::nullopt);
  EXPECT_TRUE(buckets_of(histogram).empty());
}

TEST(Histogram, keeps_values_below_256_exactly) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 256; ++value) {
    for (std::uint64_t times = 0; times <= value; ++times) histogram.add(value);
  }
  const std::vector<Bucket> buckets = buckets_of(histogram);
  ASSERT_EQ(buckets.size(), 256U);
  for (std::uint64_t value = 0; value < 256; ++value) {
    EXPECT_EQ(buckets[value].lower_ns, value);
    EXPECT_EQ(buckets[value].upper_ns, value + 1);
    EXPECT_EQ(buckets[value].count, value + 1);
  }
}

TEST(Histogram, divides_every_octave_into_128_buckets_that_follow_each_other_without_a_gap) {
  Histogram histogram;
  for (unsigned octave = 8; octave < 63; ++octave) {
    const std::uint64_t width = std::uint64_t{1} << (octave - 7);
    for (std::uint64_t bucket = 0; bucket < 128; ++bucket) {
      const std::uint64_t lower = (std::uint64_t{1} << octave) + bucket * width;
      histogram.add(lower);
      histogram.add(lower + width - 1);
    }
  }
  const std::vector<Bucket> buckets = buckets_of(histogram);
  ASSERT_EQ(buckets.size(), 55U * 128);
  std::uint64_t expected_lower = 256;
  for (const Bucket& bucket : buckets) {
    ASSERT_EQ(bucket.lower_ns, expected_lower);
    ASSERT_EQ(bucket.count, 2U) << "the first and the last value of the bucket";
    ASSERT_LE((bucket.upper_ns - bucket.lower_ns) * 128, bucket.lower_ns);
    expected_lower = bucket.upper_ns;
  }
  EXPECT_EQ(expected_lower, std::uint64_t{1} << 63);
}

TEST(Histogram, counts_every_value_in_its_bucket) {
  for (const std::uint64_t value : values_of_every_octave(2000, 1)) {
    const Bucket bucket = bucket_of(value);
    ASSERT_LE(bucket.lower_ns, value);
    ASSERT_LT(value, bucket.upper_ns);
    ASSERT_LE((bucket.upper_ns - bucket.lower_ns - 1) * 128, bucket.lower_ns) << "wider than 0.8 %";
  }
}

TEST(Histogram, counts_2_to_the_63_and_more_in_its_last_bucket) {
  constexpr std::uint64_t top = std::uint64_t{1} << 63;
  const Bucket last = bucket_of(top - 1);
  EXPECT_EQ(last.upper_ns, top);
  for (const std::uint64_t value : {top, top + 1, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(bucket_of(value).lower_ns, last.lower_ns) << value;
    Histogram histogram;
    histogram.add(value);
    EXPECT_EQ(histogram.max_seen(), value);
    EXPECT_EQ(histogram.quantile(1), top - 1);
  }
}

TEST(Histogram, returns_quantiles_within_half_a_bucket_of_sorting) {
  expect_quantiles_of(values_of_every_octave(20'000, 2));
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> latency(9.5, 0.6);  // median 13 µs, with the tail of a latency
  std::vector<std::uint64_t> values(20'000);
  for (std::uint64_t& value : values) value = static_cast<std::uint64_t>(latency(random));
  expect_quantiles_of(values);
}

TEST(Histogram, returns_quantiles_of_few_values_by_nearest_rank) {
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<std::uint64_t> values(count);
    std::iota(values.begin(), values.end(), 100);
    expect_quantiles_of(values);
  }
}

TEST(Histogram, does_not_round_up_a_whole_rank) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
  ASSERT_GT(0.07 * 100, 7.0) << "the product of the doubles is slightly too large";
  EXPECT_EQ(histogram.quantile(0.07), 7U);
}

TEST(Histogram, returns_no_quantile_above_the_largest_value) {
  Histogram histogram;
  histogram.add(1'000'000);
  histogram.add(1'000'001);
  for (const double q : {-1.0, 0.0, 0.3, 0.5, 0.9, 1.0, 2.0}) EXPECT_LE(histogram.quantile(q), 1'000'001U) << q;
  EXPECT_EQ(histogram.quantile(1.0), 1'000'001U);
  EXPECT_EQ(histogram.quantile(2.0), 1'000'001U);
  EXPECT_EQ(histogram.quantile(-1.0), histogram.quantile(0.0));
  EXPECT_TRUE(histogram.quantile(std::nan("")).has_value());
}

TEST(Histogram, remembers_the_largest_value_exactly) {
  Histogram histogram;
  for (const std::uint64_t value : {5U, 987'654'321U, 17U}) histogram.add(value);
  EXPECT_EQ(histogram.max_seen(), 987'654'321U);
  EXPECT_EQ(histogram.quantile(1), 987'654'321U);
}

TEST(Histogram, merged_with_another_equals_a_histogram_of_all_values) {
  Histogram one;
  Histogram other;
  Histogram all;
  for (const std::uint64_t value : values_of_every_octave(5000, 4)) {
    one.add(value);
    all.add(value);
  }
  for (const std::uint64_t value : values_of_every_octave(3000, 5)) {
    other.add(value);
    all.add(value);
  }
  one.merge(other);
  EXPECT_EQ(one.count(), 8000U);
  EXPECT_EQ(one.max_seen(), all.max_seen());
  const std::vector<Bucket> merged = buckets_of(one);
  const std::vector<Bucket> expected = buckets_of(all);
  ASSERT_EQ(merged.size(), expected.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    EXPECT_EQ(merged[i].lower_ns, expected[i].lower_ns);
    EXPECT_EQ(merged[i].count, expected[i].count);
  }
}

TEST(Histogram, touches_no_new_page_while_it_counts) {
  if (test::under_address_sanitizer || test::under_thread_sanitizer) {
    GTEST_SKIP() << "the sanitizer faults in pages of its own";
  }
  const std::vector<std::uint64_t> values = values_of_every_octave(50'000, 6);
  Histogram histogram;
  rusage before{};
  getrusage(RUSAGE_THREAD, &before);
  for (const std::uint64_t value : values) histogram.add(value);
  rusage after{};
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_EQ(histogram.count(), 50'000U);
  // 57 KiB are 15 small pages. The limit is not 0, because the test itself may cause a few faults.
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 8);
}

TEST(HistogramFile, contains_the_buckets_that_are_not_empty_in_ascending_order) {
  const test::TemporaryFolder folder;
  Histogram histogram;
  for (const std::uint64_t value : values_of_every_octave(5000, 7)) histogram.add(value);
  histogram.write_npy(folder / "histogram.npy");
  const test::Npy file(folder / "histogram.npy");
  const std::vector<std::pair<std::string, std::size_t>> fields{{"lower_ns", 8}, {"upper_ns", 8}, {"count", 8}};
  EXPECT_EQ(file.fields, fields);
  const std::vector<Bucket> buckets = buckets_of(histogram);
  ASSERT_EQ(file.count, buckets.size());
  std::uint64_t total = 0;
  std::uint64_t previous_upper = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto bucket = file.record<Bucket>(i);
    EXPECT_EQ(bucket.lower_ns, buckets[i].lower_ns);
    EXPECT_EQ(bucket.upper_ns, buckets[i].upper_ns);
    EXPECT_GT(bucket.count, 0U);
    EXPECT_GE(bucket.lower_ns, previous_upper);
    previous_upper = bucket.upper_ns;
    total += bucket.count;
  }
  EXPECT_EQ(total, 5000U);
}

TEST(HistogramFile, without_values_contains_no_bucket) {
  const test::TemporaryFolder folder;
  Histogram().write_npy(folder / "histogram.npy");
  EXPECT_EQ(test::Npy(folder / "histogram.npy").count, 0U);
}

TEST(Histogram, new_values_are_visited_once) {
  Histogram histogram;
  std::vector<std::uint64_t> seen;
  const auto fresh = [&] {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    histogram.for_each_new(seen, [&](std::uint64_t lower, std::uint64_t count) { found.emplace_back(lower, count); });
    return found;
  };
  using Found = decltype(fresh());
  EXPECT_EQ(fresh(), Found());
  histogram.add(7);
  histogram.add(7);
  histogram.add(1001);
  EXPECT_EQ(fresh(), (Found{{7, 2}, {1000, 1}}));
  histogram.add(7);
  EXPECT_EQ(fresh(), (Found{{7, 1}}));
  EXPECT_EQ(fresh(), Found());
}

TEST(Histogram, a_value_can_be_added_several_times_and_all_can_be_cleared) {
  Histogram histogram;
  histogram.add(1000, 3);
  histogram.add(5);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.max_seen(), 1000U);
  EXPECT_EQ(buckets_of(histogram).at(1).count, 3U);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.max_seen(), 0U);
  EXPECT_TRUE(buckets_of(histogram).empty());
}

}  // namespace
}  // namespace middlemark::histogram_test
