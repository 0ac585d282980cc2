// Computes how many messages readers and writers keep: the trial's history, limited by the memory of the machine.
#pragma once

#include <dds/dds.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include <middlemark/kit/machine.hpp>
#include <middlemark/settings.hpp>

#include "native.hpp"
#include "version.hpp"

namespace middlemark::cyclonedds {

/// Number of readers in the trial, over all processes.
[[nodiscard]] inline std::uint64_t readers_of(const Settings& settings) {
  std::uint64_t readers = 0;
  for (const Topic& topic : settings.endpoints) readers += topic.subscribers + (topic.service ? topic.publishers : 0);
  return std::max<std::uint64_t>(readers, 1);
}

/// The number of messages that a reader keeps, of all publishers of its topic together. Cyclone DDS sets no limit by
/// default, so a flood would fill the memory.
struct ReaderHistory {
  std::uint64_t messages = 0;  ///< keep-last: the depth in Cyclone DDS; keep-all: the limit of waiting messages
  bool bounded = false;        ///< true if `messages` is less than the trial requests, so always for keep-all

  /// `sources`: the number of writers, by which the depth is multiplied. Our types have no key, so all messages of a
  /// reader belong to one instance. Without the factor, a message of one writer would replace a message of another.
  ReaderHistory(const Settings& settings, const Topic& topic, std::uint64_t sources) {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    // The header of the serialized data, and the entry in the reader's cache.
    constexpr std::uint64_t sample_overhead_bytes = 256;
    const std::uint64_t sample = topic.message_bytes + sample_overhead_bytes;
    if (!topic.depth) {
      bounded = true;
      messages = std::max<std::uint64_t>(std::min(256 * mib, 2048 * mib / readers_of(settings)) / sample, 4);
      return;
    }
    const std::uint64_t most = std::max<std::uint64_t>(kit::physical_memory() / 4 / readers_of(settings) / sample, 1);
    const std::uint64_t wanted = *topic.depth * sources;
    bounded = wanted > most;
    messages = std::min(wanted, most);
  }
};

struct DeleteQos {
  void operator()(dds_qos_t* qos) const noexcept { dds_delete_qos(qos); }
};
using Qos = std::unique_ptr<dds_qos_t, DeleteQos>;

/// The quality of service that readers and writers share, so that they always match.
[[nodiscard]] inline Qos common_qos(const Settings& settings, const Native& native, const Topic& topic) {
  Qos qos(dds_create_qos());
  dds_qset_reliability(
      qos.get(), topic.reliability == Reliability::reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
      settings.write_timeout.count());
  dds_qset_durability(qos.get(), topic.history > 0 ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  dds_qset_latency_budget(qos.get(), native.latency_budget.count());
  dds_qset_transport_priority(qos.get(), native.transport_priority);
  return qos;
}

[[nodiscard]] inline Qos reader_qos(const Settings& settings, const Native& native, const Topic& topic,
                                    std::uint64_t sources) {
  Qos qos = common_qos(settings, native, topic);
  const ReaderHistory history(settings, topic, sources);
  const auto messages = static_cast<std::int32_t>(history.messages);
  if (topic.depth) {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, messages);
  } else {
    // A full reader blocks its receive thread, which then sends no acknowledgements. So a reliable writer blocks as
    // well.
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_ALL, 0);
    dds_qset_resource_limits(qos.get(), messages, DDS_LENGTH_UNLIMITED, messages);
  }
  return qos;
}

/// Returns a writer's quality of service. Its history does not limit the unacknowledged messages that a reliable writer
/// keeps; the writer's high-water mark does.
[[nodiscard]] inline Qos writer_qos(const Settings& settings, const Native& native, const Topic& topic) {
  Qos qos = common_qos(settings, native, topic);
  if (topic.depth) {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(*topic.depth));
  } else {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_ALL, 0);
  }
  if (topic.history > 0) {  // the depth of the messages kept for subscribers that join late
    dds_qset_durability_service(qos.get(), 0, DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(topic.history),
                                DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  }
  if (native.batches()) batch(qos.get());
  // By default a writer that is deleted sends a disposal after its last message.
  if (!settings.is_default_configuration()) dds_qset_writer_data_lifecycle(qos.get(), false);
  return qos;
}

}  // namespace middlemark::cyclonedds
