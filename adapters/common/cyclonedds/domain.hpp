// The DDS domain of a trial, opened with our own configuration. Keeps the lines that Cyclone DDS logs about this
// configuration.
#pragma once

#include <dds/dds.h>

#include <string>
#include <vector>

#include "domain_xml.hpp"
#include "entity.hpp"
#include "log_capture.hpp"

namespace middlemark::cyclonedds {

class Domain {
 public:
  Domain(const Settings& settings, const Native& native) {
    const auto id = static_cast<dds_domainid_t>(settings.domain);
    const UserFile user(native.config);
    documents_ = domain_xml(settings, native, user);
    std::string configuration;
    for (const std::string& document : documents_) configuration += (configuration.empty() ? "" : ",") + document;
    LogCapture log;
    const dds_entity_t domain = dds_create_domain(id, configuration.c_str());
    warnings_ = log.lines();
    if (!user.xml().empty()) note_ = user.note();
    if (domain < 0) {
      std::string reason;
      for (const std::string& line : warnings_) reason += (reason.empty() ? "" : "; ") + line;
      throw AdapterError("Cyclone DDS: the domain " + std::to_string(id) + " cannot be opened: " +
                             (reason.empty() ? dds_strretcode(domain) : "Cyclone DDS reports: " + reason),
                         advice(settings, configuration));
    }
    domain_ = Entity(domain, "dds_create_domain");
  }

  /// Names the parts of the user's own configuration that are ignored; empty if the user gave no configuration.
  [[nodiscard]] const std::string& note() const noexcept { return note_; }
  /// The documents of the configuration that was passed to Cyclone DDS.
  [[nodiscard]] const std::vector<std::string>& documents() const noexcept { return documents_; }
  /// The lines that Cyclone DDS logged about the configuration.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  [[nodiscard]] static std::string advice(const Settings& settings, const std::string& configuration) {
    if (settings.native.empty()) return "the configuration was " + configuration;
    std::string text = "check the native settings of the trial:";
    for (const auto& [key, value] : settings.native) text.append(" ").append(key).append("=").append(value);
    return text;
  }

  Entity domain_;
  std::vector<std::string> documents_;
  std::vector<std::string> warnings_;
  std::string note_;
};

}  // namespace middlemark::cyclonedds
