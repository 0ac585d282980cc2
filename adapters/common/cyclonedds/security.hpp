// DDS Security of a trial: Cyclone DDS's plug-ins, and a participant that uses them. Keeps what Cyclone DDS logs, such
// as the reason why a document or a peer was refused.
#pragma once

#include <dds/dds.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <dds_security/properties.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/settings.hpp>

#include "entity.hpp"
#include "history.hpp"
#include "overheard.hpp"

namespace middlemark::cyclonedds {

/// The folder of the plug-ins of the loaded library; empty if there are none. Debian installs them in a folder next to
/// it.
[[nodiscard]] inline std::string security_plugins() {
  namespace fs = std::filesystem;
  const fs::path beside =
      fs::path(kit::loaded_library(reinterpret_cast<const void*>(&dds_create_domain)).path).parent_path();
  std::vector<fs::path> places{beside};
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(beside, ignored)) {
    if (each.path().filename().string().starts_with("libddsc") && each.is_directory(ignored)) places.push_back(each);
  }
  for (const fs::path& each : places) {
    if (fs::exists(each / "libdds_security_auth.so", ignored)) return each.string();
  }
  return {};
}

/// Sets the security levels of each transport over the network, and the reason why the others have none.
inline void list_security(std::vector<Transport>& transports) {
  const bool there = !security_plugins().empty();
  for (Transport& each : transports) {
    if (!there) {
      each.security_why = "the plug-ins of DDS Security (libdds_security_auth.so and others) are not next to libddsc";
    } else if (each.carrier == "udp") {
      each.security = {Security::none, Security::authenticated, Security::signed_, Security::encrypted};
      each.permissions = true;
    } else if (each.carrier == "shared-memory") {
      each.security_why = "iceoryx's shared memory has no security, and Cyclone DDS would send plain text";
    } else {
      each.security_why = dds_security::why_not_within_a_process;
    }
  }
}

/// The participant of a trial, with security if the trial has it.
class Participant {
 public:
  /// `qos`: further quality of service, or null.
  explicit Participant(const Settings& settings, Qos qos = nullptr) : settings_(settings) {
    const auto domain = static_cast<dds_domainid_t>(settings.domain);
    if (settings.security != Security::none) {
      if (qos == nullptr) qos.reset(dds_create_qos());
      secure(qos.get());
      overheard_.emplace();
    }
    const dds_entity_t made = dds_create_participant(domain, qos.get(), nullptr);
    if (made < 0 && overheard_) {
      const std::string reason = said();
      throw AdapterError("Cyclone DDS: security " + std::string(word(settings.security)) + ": no participant: " +
                             (reason.empty() ? dds_strretcode(made) : "Cyclone DDS says: " + reason),
                         "check the certificates and documents in " + settings.certs);
    }
    participant_ = Entity(made, "dds_create_participant");
    if (!Overheard::lasts()) overheard_.reset();
  }

  [[nodiscard]] dds_entity_t get() const noexcept { return participant_.get(); }
  [[nodiscard]] const Entity& entity() const noexcept { return participant_; }

  /// Errors and warnings that were logged since it was made; empty without security.
  [[nodiscard]] std::string said() const { return overheard_ ? overheard_->said() : ""; }
  [[nodiscard]] std::string protected_by() const { return dds_security::words(settings_, "ECDH+prime256v1-CEUM"); }

 private:
  void secure(dds_qos_t* qos) const {
    const std::string folder = security_plugins();
    constexpr std::array<std::array<const char*, 3>, 3> plugins{
        {{"auth", "auth", "authentication"}, {"access", "ac", "access_control"}, {"crypto", "crypto", "crypto"}}};
    for (const auto& [name, library, function] : plugins) {
      const std::string begin = dds_security::prefix + std::string(name) + ".library.";
      dds_qset_prop(qos, (begin + "path").c_str(), (folder + "/libdds_security_" + library + ".so").c_str());
      dds_qset_prop(qos, (begin + "init").c_str(), (std::string("init_") + function).c_str());
      dds_qset_prop(qos, (begin + "finalize").c_str(), (std::string("finalize_") + function).c_str());
    }
    for (const auto& [name, value] : dds_security::files(settings_, "dds.sec.auth.", "dds.sec.access.")) {
      dds_qset_prop(qos, name.c_str(), value.c_str());
    }
  }

  const Settings& settings_;
  mutable std::optional<Overheard> overheard_;  // catches what Cyclone DDS logs
  Entity participant_;                          // destroyed first, so that what it logs at its end is still caught
};

}  // namespace middlemark::cyclonedds
