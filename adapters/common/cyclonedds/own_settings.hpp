// Returns the settings of a trial in Cyclone DDS's own form. First the XML of the domain, as for CYCLONEDDS_URI, then a
// comment with the quality of service with which readers and writers were created.
#pragma once

#include <dds/dds.h>

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include <middlemark/kit/applied.hpp>
#include <middlemark/settings.hpp>

#include "domain.hpp"
#include "history.hpp"
#include "native.hpp"

namespace middlemark::cyclonedds {

/// Reads the values of `qos` and returns the calls that set them.
[[nodiscard]] inline kit::CodeBlock qos_block(const char* end, const dds_qos_t* qos) {
  kit::CodeBlock block(end);
  dds_reliability_kind_t reliability{};
  dds_duration_t duration = 0;
  if (dds_qget_reliability(qos, &reliability, &duration)) {
    const bool reliable = reliability == DDS_RELIABILITY_RELIABLE;
    block.call("dds_qset_reliability", "qos", reliable ? "DDS_RELIABILITY_RELIABLE" : "DDS_RELIABILITY_BEST_EFFORT",
               duration);
  }
  dds_durability_kind_t durability{};
  if (dds_qget_durability(qos, &durability) && durability == DDS_DURABILITY_TRANSIENT_LOCAL)
    block.call("dds_qset_durability", "qos", "DDS_DURABILITY_TRANSIENT_LOCAL");
  const auto word = [](dds_history_kind_t kind) {
    return kind == DDS_HISTORY_KEEP_LAST ? "DDS_HISTORY_KEEP_LAST" : "DDS_HISTORY_KEEP_ALL";
  };
  dds_history_kind_t history{};
  std::int32_t depth = 0;
  if (dds_qget_history(qos, &history, &depth)) block.call("dds_qset_history", "qos", word(history), depth);
  std::int32_t samples = 0;
  std::int32_t instances = 0;
  std::int32_t per_instance = 0;
  if (dds_qget_resource_limits(qos, &samples, &instances, &per_instance))
    block.call("dds_qset_resource_limits", "qos", samples, instances, per_instance);
  if (dds_qget_durability_service(qos, &duration, &history, &depth, &samples, &instances, &per_instance)) {
    block.call("dds_qset_durability_service", "qos", duration, word(history), depth, samples, instances, per_instance);
  }
  if (dds_qget_latency_budget(qos, &duration) && duration != 0) block.call("dds_qset_latency_budget", "qos", duration);
  std::int32_t priority = 0;
  if (dds_qget_transport_priority(qos, &priority) && priority != 0)
    block.call("dds_qset_transport_priority", "qos", priority);
  bool flag = false;
  if (dds_qget_writer_data_lifecycle(qos, &flag)) block.call("dds_qset_writer_data_lifecycle", "qos", flag);
  return block;
}

/// Returns one XML document with the content of all documents of the domain. Names the trial's files without their
/// folder.
[[nodiscard]] inline std::string one_document(const Domain& domain, const std::string& scratch) {
  if (domain.documents().size() == 1) return domain.documents().front();
  static const std::regex roots(R"(<\?[^>]*\?>|</?CycloneDDS[^>]*>)");
  std::string content;
  for (const std::string& document : domain.documents()) content += std::regex_replace(document, roots, "");
  for (std::size_t at = content.find(scratch + "/"); at != content.npos; at = content.find(scratch + "/", at)) {
    content.erase(at, scratch.size() + 1);
  }
  static const std::regex blank_lines(R"(\n(\s*\n)+)");
  return "<CycloneDDS>" + std::regex_replace(content, blank_lines, "\n") + "</CycloneDDS>";
}

[[nodiscard]] inline OwnSettings own_settings(const Domain& domain, const Settings& settings, const Native& native,
                                              const std::vector<Topic>& topics) {
  kit::AppliedCode code;
  for (const Topic& topic : topics) {
    code.add(qos_block("writer", writer_qos(settings, native, topic).get()));
    code.add(qos_block("reader", reader_qos(settings, native, topic, topic.publishers).get()));
  }
  if (settings.security != Security::none)
    code.add(kit::CodeBlock("participant: the properties dds.sec.* with your certificates and documents"));
  return {.language = Language::xml,
          .text = one_document(domain, settings.scratch) + "\n<!--\n" + code.settings(Language::c).text + "-->\n"};
}

}  // namespace middlemark::cyclonedds
