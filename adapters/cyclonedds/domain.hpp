// The domain of a trial, opened with a configuration of our own; what Cyclone DDS says of it is caught.
#pragma once

#include <dds/dds.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "domain_xml.hpp"
#include "entity.hpp"

namespace middlemark::cyclonedds {

/// Catches what Cyclone DDS logs while it lives, instead of stderr. One at a time: the sink is the process's.
class Overheard {
 public:
  Overheard() { dds_set_log_sink(&Overheard::hear, this); }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;
  ~Overheard() { dds_set_log_sink(nullptr, nullptr); }

  [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  static void hear(void* self, const dds_log_data_t* entry) {
    std::string line(entry->message, entry->size);
    line.erase(std::min(line.find_last_not_of(" \n") + 1, line.size()));
    // The place is ours, not the user's: one line of XML made by the adapter.
    if (const std::size_t place = line.find(" (CYCLONEDDS_URI"); place != line.npos) line.erase(place);
    static_cast<Overheard*>(self)->lines_.push_back(std::move(line));
  }

  std::vector<std::string> lines_;
};

class Domain {
 public:
  Domain(const Settings& settings, const Native& native) {
    const auto id = static_cast<dds_domainid_t>(settings.domain);
    const std::string configuration = domain_xml(settings, native);
    const Overheard overheard;
    const dds_entity_t domain = dds_create_domain(id, configuration.c_str());
    warnings_ = overheard.lines();
    if (domain < 0) {
      std::string reason;
      for (const std::string& line : warnings_) reason += (reason.empty() ? "" : "; ") + line;
      throw AdapterError("cyclonedds: the domain " + std::to_string(id) + " cannot be opened: " +
                             (reason.empty() ? dds_strretcode(domain) : "Cyclone DDS says: " + reason),
                         advice(settings, configuration));
    }
    domain_ = Entity(domain, "dds_create_domain");
  }

  /// What Cyclone DDS found doubtful in the configuration.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  [[nodiscard]] static std::string advice(const Settings& settings, const std::string& configuration) {
    if (settings.native.empty()) return "the configuration was " + configuration;
    std::string text = "look at the native settings of the trial:";
    for (const auto& [key, value] : settings.native) text.append(" ").append(key).append("=").append(value);
    return text;
  }

  Entity domain_;
  std::vector<std::string> warnings_;
};

}  // namespace middlemark::cyclonedds
