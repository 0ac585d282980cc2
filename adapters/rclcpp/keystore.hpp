// SROS2 for this process: an enclave out of the trial's set of certificates, laid out as `ros2 security create_enclave` does, and the
// variables by which rcl finds it. Knows nothing of rclcpp.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::ros2 {

/// Each file of an enclave, by the name that an RMW knows, and the file of the set that it is.
[[nodiscard]] inline std::map<std::string, std::string> enclave_files(const Settings& settings) {
  const kit::Credentials set(settings);
  return {{"identity_ca.cert.pem", set.own_authority()},
          {"permissions_ca.cert.pem", set.permissions_authority()},
          {"cert.pem", set.certificate()},
          {"key.pem", set.key()},
          {"governance.p7s", set.governance(settings.security)},
          {"permissions.p7s", set.permissions()}};
}

/// Makes a keystore with the enclave of this process's identity in the trial's folder, and returns its path. Links: no key lies in a
/// second place. A process has its own, for those of one identity start at the same time. Throws AdapterError.
[[nodiscard]] inline std::string make_keystore(const Settings& settings) {
  const std::filesystem::path keystore =
      std::filesystem::path(settings.scratch) / ("sros2." + std::to_string(getpid()));
  const std::filesystem::path enclave = keystore / "enclaves" / word(settings.identity);
  std::filesystem::create_directories(enclave);
  for (const auto& [name, file] : enclave_files(settings)) {
    if (!std::filesystem::is_regular_file(file)) {
      throw AdapterError("rclcpp: " + file + " is not there, which SROS2 needs as " + name,
                         "`middlemark certs FOLDER` makes a whole set");
    }
    std::filesystem::create_symlink(file, enclave / name);
  }
  return keystore;
}

/// Before rclcpp::init(). What the user's shell says of SROS2 is not the trial's.
inline void use_security(const Settings& settings) {
  const bool wanted = settings.security != Security::none;
  setenv("ROS_SECURITY_ENABLE", wanted ? "true" : "false", 1);
  if (!wanted) return;
  setenv("ROS_SECURITY_STRATEGY", "Enforce", 1);  // Permissive, the default, goes on without what is missing
  setenv("ROS_SECURITY_KEYSTORE", make_keystore(settings).c_str(), 1);
  setenv("ROS_SECURITY_ENCLAVE_OVERRIDE", ("/" + std::string(word(settings.identity))).c_str(), 1);
}

}  // namespace middlemark::ros2
