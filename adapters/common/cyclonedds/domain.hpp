// Opens the DDS domain of a trial with our own configuration. Keeps the lines that Cyclone DDS logs about this
// configuration.
#pragma once

#include <dds/dds.h>

#include <optional>
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
    LogCapture log(user.xml().empty() ? std::nullopt
                                      : std::optional(documents_.size() < 3 ? 0 : documents_.front().size() + 1));
    const dds_entity_t domain = dds_create_domain(id, configuration.c_str());
    warnings_ = log.lines();
    if (!user.xml().empty()) notes_ = user.notes();
    if (domain < 0) {
      std::string reason;
      for (const std::string& line : warnings_) reason += (reason.empty() ? "" : "; ") + line;
      const std::string why = reason.empty() ? dds_strretcode(domain) : "Cyclone DDS reports: " + reason;
      const bool of_file = !user.xml().empty() && native.any.empty();
      throw AdapterError(
          "Cyclone DDS: " +
              (of_file ? "config: " + user.path() : "the domain " + std::to_string(id) + " cannot be opened") + ": " +
              why,
          of_file ? "correct the file" : advice(settings, configuration));
    }
    domain_ = Entity(domain, "dds_create_domain");
  }

  /// Returns notes on how the trial changed the user's own configuration; empty if the user gave no configuration.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Returns the documents of the configuration that was passed to Cyclone DDS.
  [[nodiscard]] const std::vector<std::string>& documents() const noexcept { return documents_; }
  /// Returns the lines that Cyclone DDS logged about the configuration.
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
  std::vector<std::string> notes_;
};

/// Checks a user's own configuration and native settings before the first trial: opens the domain with them, without a
/// participant, so that nothing is sent. Throws an AdapterError if Cyclone DDS refuses them.
inline void check_domain(const Settings& settings) {
  const Native native{settings};
  if (!native.config && native.any.empty()) return;
  Settings alone = settings;
  if (alone.transport == "shm") alone.transport = "udp";  // shared memory needs RouDi, which does not run yet
  Domain{alone, native};
}

}  // namespace middlemark::cyclonedds
