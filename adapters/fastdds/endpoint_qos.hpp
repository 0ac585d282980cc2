// Quality of service of a trial's endpoints. What is not set here is Fast DDS's default.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>

#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::fastdds {

[[nodiscard]] inline eprosima::fastrtps::Duration_t duration(std::chrono::nanoseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<std::int32_t>(whole.count()), static_cast<std::uint32_t>((time - whole).count())};
}

/// What writers and readers have in common; `depth` counts messages of one end.
template <class Qos>
[[nodiscard]] Qos endpoint_qos(const Settings& settings, const Options& options, std::uint32_t messages) {
  namespace dds = eprosima::fastdds::dds;
  Qos qos;
  qos.reliability().kind =
      settings.reliability == Reliability::reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = duration(settings.write_timeout);
  qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
  std::int32_t most = options.keep_all_samples;
  if (settings.depth) {
    qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = static_cast<std::int32_t>(messages);
    most = qos.history().depth;
  } else {
    qos.history().kind = dds::KEEP_ALL_HISTORY_QOS;
  }
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().max_samples = most;
  qos.resource_limits().max_samples_per_instance = most;
  qos.resource_limits().allocated_samples = std::min({most, options.keep_all_samples, default_allocated_samples});
  if (options.carrier == Carrier::data_sharing) {
    qos.data_sharing().on("");  // ON, not AUTO: what cannot be shared must fail and not go another way
  } else {
    qos.data_sharing().off();
  }
  return qos;
}

[[nodiscard]] inline eprosima::fastdds::dds::DataWriterQos writer_qos(const Settings& settings,
                                                                      const Options& options) {
  namespace dds = eprosima::fastdds::dds;
  auto qos = endpoint_qos<dds::DataWriterQos>(settings, options, settings.depth.value_or(0));
  qos.publish_mode().kind = options.asynchronous ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
  qos.reliable_writer_qos().times.heartbeatPeriod = duration(options.heartbeat);
  qos.reliable_writer_qos().disable_heartbeat_piggyback = !options.piggyback;
  return qos;
}

/// The depth counts per publisher: replies of several pongs must not push each other out of one reader's history.
[[nodiscard]] inline eprosima::fastdds::dds::DataReaderQos reader_qos(const Settings& settings, const Options& options,
                                                                      unsigned publishers) {
  namespace dds = eprosima::fastdds::dds;
  return endpoint_qos<dds::DataReaderQos>(settings, options, settings.depth.value_or(0) * std::max(1U, publishers));
}

}  // namespace middlemark::fastdds
