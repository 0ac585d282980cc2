// The `configure` command as values. See docs/protocol.md.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/placement.hpp>
#include <middlemark/roles/requests.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// One worker's whole task.
struct Configuration {
  Settings settings;
  Placement placement;
  double match_timeout_s = 10;
  std::vector<PingRequest> pings;  ///< one ping, or clients
  std::vector<PongRequest> pongs;  ///< pongs, or one server
  std::vector<PublisherRequest> publishers;
  std::vector<SubscriberRequest> subscribers;
};

/// A configure command that does not say what it must; what() names every field that is wrong.
class ConfigurationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] Settings parse_settings(const nlohmann::json& json);
[[nodiscard]] Configuration parse_configuration(const nlohmann::json& json);

}  // namespace middlemark
