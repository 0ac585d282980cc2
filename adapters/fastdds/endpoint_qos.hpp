// Quality of service of a trial's endpoints. What is not set here is Fast DDS's default.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <middlemark/settings.hpp>

#include "options.hpp"
#include "version.hpp"

namespace middlemark::fastdds {

[[nodiscard]] inline Duration duration(std::chrono::nanoseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<std::int32_t>(whole.count()), static_cast<std::uint32_t>((time - whole).count())};
}

inline constexpr const char* flow_controller = "middlemark";

/// What writers and readers have in common; `messages` is what the history of this end holds.
template <class Qos>
[[nodiscard]] Qos endpoint_qos(const Settings& settings, const Options& options, std::uint32_t messages) {
  Qos qos;
  qos.reliability().kind =
      settings.reliability == Reliability::reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = duration(settings.write_timeout);
  qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
  const auto most = static_cast<std::int32_t>(std::min<std::uint32_t>(messages, INT32_MAX));
  if (settings.depth) {
    qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = most;
  } else {
    qos.history().kind = dds::KEEP_ALL_HISTORY_QOS;
  }
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().max_samples = most;
  qos.resource_limits().max_samples_per_instance = most;
  qos.resource_limits().allocated_samples = static_cast<std::int32_t>(options.allocated_samples);
  qos.resource_limits().extra_samples = static_cast<std::int32_t>(options.extra_samples);
  qos.endpoint().history_memory_policy = static_cast<renamed::MemoryManagementPolicy_t>(options.history_memory);
  for (const auto& [name, value] : options.properties) qos.properties().properties().emplace_back(name, value);
  if (options.carrier == Carrier::data_sharing) {
    qos.data_sharing().on("");  // ON, not AUTO: what cannot be shared must fail and not go another way
  } else {
    qos.data_sharing().off();
  }
  return qos;
}

[[nodiscard]] inline dds::DataWriterQos writer_qos(const Settings& settings, const Options& options) {
  auto qos = endpoint_qos<dds::DataWriterQos>(settings, options, settings.depth.value_or(options.writer_samples));
  qos.publish_mode().kind = options.asynchronous ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
  if (options.flow_controlled) qos.publish_mode().flow_controller_name = flow_controller;
  auto& reliable = qos.reliable_writer_qos();
  heartbeat_period(reliable) = duration(options.heartbeat);
  nack_response_delay(reliable) = duration(options.nack_response);
  nack_suppression(reliable) = duration(options.nack_suppression);
  reliable.disable_heartbeat_piggyback = !options.piggyback;
  if (options.positive_acks_off.count() > 0) {
    reliable.disable_positive_acks.enabled = true;
    reliable.disable_positive_acks.duration = duration(options.positive_acks_off);
  }
  return qos;
}

/// The depth counts per publisher: they share one history of a reader, and must not push each other's messages out.
[[nodiscard]] inline dds::DataReaderQos reader_qos(const Settings& settings, const Options& options,
                                                   unsigned publishers) {
  const std::uint32_t messages = settings.depth ? *settings.depth * std::max(1U, publishers) : options.reader_samples;
  auto qos = endpoint_qos<dds::DataReaderQos>(settings, options, messages);
  heartbeat_response_delay(qos.reliable_reader_qos()) = duration(options.heartbeat_response);
  positive_acks_off(qos.reliable_reader_qos()) = options.positive_acks_off.count() > 0;
  return qos;
}

}  // namespace middlemark::fastdds
