// The checked `configure` command. See docs/protocol.md.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/protocol.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// The whole task of one worker.
struct Configuration {
  Settings settings;
  Placement placement;
  double match_timeout_s = 10;
  std::vector<AnyRoleRequest> roles;
  bool tells_ends = false;
};

/// Both throw ConfigurationError naming every field that is wrong.
[[nodiscard]] Settings parse_settings(const nlohmann::json& request);
[[nodiscard]] Configuration parse_configuration(const nlohmann::json& command);

}  // namespace middlemark
