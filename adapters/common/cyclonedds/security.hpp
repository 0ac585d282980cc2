// Sets up DDS Security: finds Cyclone DDS's plug-ins and makes a participant that uses them. Keeps the lines that
// Cyclone DDS logs, such as the reason why a document or a peer was refused.
#pragma once

#include <dds/dds.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <dds_qos/policies.hpp>
#include <dds_security/properties.hpp>
#include <middlemark/kit/library.hpp>
#include <middlemark/settings.hpp>

#include "entity.hpp"
#include "history.hpp"
#include "log_capture.hpp"

namespace middlemark::cyclonedds {

/// Returns the folder with the security plug-ins of the loaded libddsc; empty if there are none. It is libddsc's own
/// folder, or a folder next to libddsc whose name begins with libddsc (as in Debian).
[[nodiscard]] inline std::string security_plugins() {
  namespace fs = std::filesystem;
  const fs::path library_folder =
      fs::path(kit::loaded_library(reinterpret_cast<const void*>(&dds_create_domain)).path).parent_path();
  std::vector<fs::path> folders{library_folder};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(library_folder, ignored)) {
    if (entry.path().filename().string().starts_with("libddsc") && entry.is_directory(ignored))
      folders.push_back(entry);
  }
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "libdds_security_auth.so", ignored)) return folder.string();
  }
  return {};
}

/// Lists the security levels of the transports over the network. For the other transports, states the reason why they
/// have none.
inline void list_security(std::vector<Transport>& transports) {
  const bool has_plugins = !security_plugins().empty();
  for (Transport& transport : transports) {
    if (!has_plugins) {
      transport.security_why =
          "the plug-ins of DDS Security (libdds_security_auth.so and others) are not next to libddsc";
    } else if (transport.carrier == "udp") {
      transport.security = {Security::none, Security::authenticated, Security::signed_, Security::encrypted};
      transport.permissions = true;
    } else if (transport.carrier == "shared-memory") {
      transport.security_why = "iceoryx's shared memory has no security, and Cyclone DDS would send plain text";
    } else {
      transport.security_why = dds_security::why_not_within_a_process;
    }
  }
}

/// The participant of a trial, with DDS Security if the trial has a security level.
class Participant {
 public:
  /// `qos`: the participant's other quality of service, or null.
  explicit Participant(const Settings& settings, Qos qos = nullptr) : settings_(settings) {
    const auto domain = static_cast<dds_domainid_t>(settings.domain);
    if (settings.security != Security::none) {
      if (qos == nullptr) qos.reset(dds_create_qos());
      secure(qos.get());
      log_.emplace();
    }
    const dds_entity_t made = dds_create_participant(domain, qos.get(), nullptr);
    if (made < 0 && log_) {
      const std::string reason = logged();
      throw AdapterError("Cyclone DDS: security " + std::string(word(settings.security)) + ": no participant: " +
                             (reason.empty() ? dds_strretcode(made) : "Cyclone DDS reports: " + reason),
                         "check the certificates and documents in " + settings.certs);
    }
    participant_ = Entity(made, "dds_create_participant");
    if (!LogCapture::has_sink()) log_.reset();
  }

  [[nodiscard]] dds_entity_t get() const noexcept { return participant_.get(); }
  [[nodiscard]] const Entity& entity() const noexcept { return participant_; }

  /// Returns the errors and warnings that Cyclone DDS has logged since the participant was created; empty without
  /// security.
  [[nodiscard]] std::string logged() const { return log_ ? log_->text() : ""; }

  /// Returns the logged lines, and the qualities of service for which writers and readers did not match a peer.
  [[nodiscard]] std::string refusals() const {
    std::string text = logged();
    add_incompatible(participant_.get(), text);
    return text;
  }
  [[nodiscard]] std::string protected_by() const { return dds_security::words(settings_, "ECDH+prime256v1-CEUM"); }

 private:
  /// Appends to `text` the incompatible qualities of service of all writers and readers below `parent`.
  static void add_incompatible(dds_entity_t parent, std::string& text) {
    std::array<dds_entity_t, 64> children{};
    const dds_return_t found = dds_get_children(parent, children.data(), children.size());
    for (dds_return_t i = 0; i < std::min<dds_return_t>(found, static_cast<dds_return_t>(children.size())); ++i) {
      const dds_entity_t child = children[static_cast<std::size_t>(i)];
      dds_offered_incompatible_qos_status_t offered{};
      dds_requested_incompatible_qos_status_t requested{};
      if (dds_get_offered_incompatible_qos_status(child, &offered) == DDS_RETCODE_OK) {
        dds_policies::add(text, "offered incompatible QoS", offered.last_policy_id, offered.total_count);
      } else if (dds_get_requested_incompatible_qos_status(child, &requested) == DDS_RETCODE_OK) {
        dds_policies::add(text, "requested incompatible QoS", requested.last_policy_id, requested.total_count);
      }
      add_incompatible(child, text);
    }
  }

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
  mutable std::optional<LogCapture> log_;  // only with security
  Entity participant_;                     // destroyed first, so that the lines logged meanwhile are captured
};

}  // namespace middlemark::cyclonedds
