// Sets up SROS2 for this process: makes an enclave from the trial's certificates, in the layout of `ros2 security
// create_enclave`, and sets the variables that rcl reads. Does not use ROS 2.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::ros2 {

/// Returns the files of an enclave: by the name that an RMW expects, the path of the certificate or key.
[[nodiscard]] inline std::map<std::string, std::string> enclave_files(const Settings& settings) {
  const kit::Credentials set(settings);
  return {{"identity_ca.cert.pem", set.own_authority()},
          {"permissions_ca.cert.pem", set.permissions_authority()},
          {"cert.pem", set.certificate()},
          {"key.pem", set.key()},
          {"governance.p7s", set.governance(settings.security)},
          {"permissions.p7s", set.permissions()}};
}

/// Makes a keystore in the trial's folder with the enclave of this process's identity, and returns the keystore's path. Its
/// files are symbolic links, so keys are not copied. Each process has its own keystore, because several processes with the
/// same identity start at once. Throws AdapterError.
[[nodiscard]] inline std::string make_keystore(const Settings& settings) {
  const std::filesystem::path keystore =
      std::filesystem::path(settings.scratch) / ("sros2." + std::to_string(getpid()));
  const std::filesystem::path enclave = keystore / "enclaves" / word(settings.identity);
  std::filesystem::create_directories(enclave);
  for (const auto& [name, file] : enclave_files(settings)) {
    if (!std::filesystem::is_regular_file(file)) {
      throw AdapterError(file + " does not exist; SROS2 needs it as " + name,
                         "`middlemark certs FOLDER` makes a whole set");
    }
    std::filesystem::create_symlink(file, enclave / name);
  }
  return keystore;
}

/// Sets the environment variables of SROS2 and replaces values that the user's shell has set. Call before rcl_init()
/// and rclcpp::init().
inline void use_security(const Settings& settings) {
  const bool wanted = settings.security != Security::none;
  setenv("ROS_SECURITY_ENABLE", wanted ? "true" : "false", 1);
  if (!wanted) return;
  setenv("ROS_SECURITY_STRATEGY", "Enforce", 1);  // Permissive, the default, continues without missing files
  setenv("ROS_SECURITY_KEYSTORE", make_keystore(settings).c_str(), 1);
  setenv("ROS_SECURITY_ENCLAVE_OVERRIDE", ("/" + std::string(word(settings.identity))).c_str(), 1);
}

}  // namespace middlemark::ros2
