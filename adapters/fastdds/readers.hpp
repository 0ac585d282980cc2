// The readers of this process and how many writers each must find.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <fastdds/dds/core/status/SubscriptionMatchedStatus.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>

#include "return_code.hpp"

namespace middlemark::fastdds {

/// Used on the main thread only.
class Readers {
 public:
  void add(eprosima::fastdds::dds::DataReader& reader, unsigned writers) { all_.push_back({&reader, writers}); }
  void remove(const eprosima::fastdds::dds::DataReader& reader) {
    std::erase_if(all_, [&reader](const One& one) { return one.reader == &reader; });
  }
  [[nodiscard]] bool all_matched() const {
    return std::ranges::all_of(all_, [](const One& one) {
      eprosima::fastdds::dds::SubscriptionMatchedStatus status;
      return succeeded(one.reader->get_subscription_matched_status(status)) &&
             status.current_count >= static_cast<std::int32_t>(one.writers);
    });
  }

  /// Stays for a while, once in a process, before its first reader goes.
  void linger(std::chrono::milliseconds time) {
    if (!lingered_) std::this_thread::sleep_for(time);
    lingered_ = true;
  }

 private:
  struct One {
    eprosima::fastdds::dds::DataReader* reader;
    unsigned writers;
  };
  std::vector<One> all_;
  bool lingered_ = false;
};

}  // namespace middlemark::fastdds
