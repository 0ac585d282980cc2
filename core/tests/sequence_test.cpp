#include <middlemark/sequence.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"

namespace middlemark::sequence_test {
namespace {

using Verdict = SequenceTracker::Verdict;
constexpr std::uint64_t window = SequenceTracker::window;

/// A slow implementation of the same rules, which remembers every sequence number.
class Oracle {
 public:
  Verdict see(std::uint64_t sequence) {
    const bool too_old = highest_ >= window && sequence <= highest_ - window;
    if (sequence == 0 || too_old || !seen_.insert(sequence).second) {
      ++duplicated;
      return Verdict::duplicate;
    }
    ++unique;
    if (sequence > highest_) {
      highest_ = sequence;
      return Verdict::fresh;
    }
    ++reordered;
    return Verdict::reordered;
  }
  [[nodiscard]] std::uint64_t highest() const { return highest_; }

  std::uint64_t unique = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;

 private:
  std::set<std::uint64_t> seen_;
  std::uint64_t highest_ = 0;
};

void expect_agreement(const std::vector<std::uint64_t>& arrivals, std::uint64_t seed) {
  SequenceTracker tracker;
  Oracle oracle;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    ASSERT_EQ(static_cast<int>(tracker.see(arrivals[i])), static_cast<int>(oracle.see(arrivals[i])))
        << "seed " << seed << ", arrival " << i << ", sequence " << arrivals[i];
  }
  EXPECT_EQ(tracker.highest(), oracle.highest()) << "seed " << seed;
  EXPECT_EQ(tracker.unique(), oracle.unique) << "seed " << seed;
  EXPECT_EQ(tracker.duplicated(), oracle.duplicated) << "seed " << seed;
  EXPECT_EQ(tracker.reordered(), oracle.reordered) << "seed " << seed;
}

TEST(SequenceTracker, messages_in_order_are_all_fresh) {
  SequenceTracker tracker;
  for (std::uint64_t sequence = 1; sequence <= 3 * window; ++sequence) {
    ASSERT_EQ(tracker.see(sequence), Verdict::fresh) << sequence;
  }
  EXPECT_EQ(tracker.unique(), 3 * window);
  EXPECT_EQ(tracker.highest(), 3 * window);
  EXPECT_EQ(tracker.duplicated(), 0U);
  EXPECT_EQ(tracker.reordered(), 0U);
}

TEST(SequenceTracker, number_zero_is_never_a_message) {
  SequenceTracker tracker;
  EXPECT_EQ(tracker.see(0), Verdict::duplicate);
  tracker.see(5);
  EXPECT_EQ(tracker.see(0), Verdict::duplicate);
  EXPECT_EQ(tracker.unique(), 1U);
}

TEST(SequenceTracker, the_oldest_message_of_the_window_is_no_duplicate) {
  SequenceTracker tracker;
  tracker.see(window + 9);
  EXPECT_EQ(tracker.see(9), Verdict::duplicate) << "just outside the window";
  EXPECT_EQ(tracker.see(10), Verdict::reordered) << "the oldest number within the window";
  EXPECT_EQ(tracker.see(10), Verdict::duplicate);
  EXPECT_EQ(tracker.see(window + 8), Verdict::reordered) << "the newest missing number";
}

TEST(SequenceTracker, gaps_of_about_the_windows_size_lose_no_number_within_the_window) {
  for (const std::uint64_t gap : {window - 2, window - 1, window, window + 1, 2 * window, 2 * window + 1}) {
    std::vector<std::uint64_t> arrivals;
    for (std::uint64_t sequence = 1; sequence <= 10; ++sequence) arrivals.push_back(sequence);
    arrivals.push_back(10 + gap);
    for (std::uint64_t back = 0; back <= window + 3 && back < 10 + gap; ++back) arrivals.push_back(10 + gap - back);
    expect_agreement(arrivals, gap);
  }
}

TEST(SequenceTracker, a_jump_to_the_largest_number_is_fast_and_keeps_the_counts_right) {
  SequenceTracker tracker;
  tracker.see(1);
  const std::uint64_t last = (std::uint64_t{1} << 47) - 1;
  EXPECT_EQ(tracker.see(last), Verdict::fresh);
  EXPECT_EQ(tracker.see(last - 1), Verdict::reordered);
  EXPECT_EQ(tracker.see(last), Verdict::duplicate);
  EXPECT_EQ(tracker.see(1), Verdict::duplicate);
  EXPECT_EQ(tracker.unique(), 3U);
}

TEST(SequenceTracker, agrees_with_a_slow_oracle_under_random_loss_duplication_and_reordering) {
  const std::uint64_t seeds = test::under_a_sanitizer ? 30 : 300;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed);
    const auto chance = [&random](double probability) {
      return std::uniform_real_distribution<double>(0, 1)(random) < probability;
    };
    const double loss = std::uniform_real_distribution<double>(0, 0.5)(random);
    const double duplication = std::uniform_real_distribution<double>(0, 0.3)(random);
    const double displacement = std::uniform_real_distribution<double>(0, 0.3)(random);
    // In a third of the runs a message moves by up to two windows, in the other runs by up to 20 places.
    const std::uint64_t reach = 1 + random() % (seed % 3 == 0 ? 2 * window : 20);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // (arrival position, sequence number)
    std::uint64_t sequence = random() % 3 == 0 ? random() % (1U << 30) : 0;
    for (std::uint64_t turn = 0; turn < 1500; ++turn) {
      ++sequence;
      if (chance(0.002)) sequence += random() % (3 * window);
      if (chance(loss)) continue;
      order.emplace_back(turn + (chance(displacement) ? random() % reach : 0), sequence);
      if (chance(duplication)) order.emplace_back(turn + random() % reach, sequence);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint64_t> arrivals;
    for (const auto& [when, which] : order) arrivals.push_back(which);
    expect_agreement(arrivals, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(SequenceTracker, agrees_with_a_slow_oracle_for_messages_in_random_order) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t range = std::uint64_t{1} << (4 + seed % 16);
    std::vector<std::uint64_t> arrivals;
    for (int i = 0; i < 3000; ++i) arrivals.push_back(random() % range);
    expect_agreement(arrivals, seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace middlemark::sequence_test
