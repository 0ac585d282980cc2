// The `configure` command, parsed and checked. See docs/reference/protocol.md.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/protocol.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Everything that one worker must do in a trial.
struct Configuration {
  Settings settings;
  Placement placement;
  double match_timeout_s = 10;
  std::vector<AnyRoleRequest> roles;
  bool tells_ends = false;
  bool latencies = false;  ///< reports contain the roles' latencies
};

/// Throws ConfigurationError naming every wrong field.
[[nodiscard]] Settings parse_settings(const nlohmann::json& request);
/// Throws ConfigurationError naming every wrong field.
[[nodiscard]] Configuration parse_configuration(const nlohmann::json& command);

}  // namespace middlemark
