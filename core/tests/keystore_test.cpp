// Tests, without ROS 2, that the SROS2 keystore of the adapters of ROS 2 has the files that an RMW looks for.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "common/ros2/keystore.hpp"

namespace middlemark::ros2::keystore_test {
namespace {

namespace fs = std::filesystem;

/// A trial's folder with a set of certificates. The content of each file is its file name.
class Sros2 : public testing::Test {
 protected:
  Sros2() {
    fs::create_directories(scratch_ / "certs");
    for (const char* const name :
         {"ca.pem", "sender.pem", "sender.key", "receiver.pem", "receiver.key", "intruder.pem", "intruder.key",
          "stranger-ca.pem", "governance-signed.p7s", "governance-encrypted.p7s", "permissions.p7s",
          "stranger-governance-encrypted.p7s", "stranger-permissions.p7s"}) {
      std::ofstream(scratch_ / "certs" / name) << name;
    }
  }
  ~Sros2() override {
    fs::remove_all(scratch_);
    for (const char* const name : {"ENABLE", "STRATEGY", "KEYSTORE", "ENCLAVE_OVERRIDE"})
      unsetenv((std::string("ROS_SECURITY_") + name).c_str());
  }

  [[nodiscard]] Settings asked(Security level, Identity identity) const {
    Settings settings;
    settings.scratch = scratch_;
    settings.certs = scratch_ / "certs";
    settings.security = level;
    settings.identity = identity;
    return settings;
  }
  [[nodiscard]] static std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }
  [[nodiscard]] static std::string text(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path scratch_ = fs::temp_directory_path() / ("sros2-" + std::to_string(getpid()));
};

TEST_F(Sros2, rcl_finds_the_enclave_of_the_process_and_requires_it) {
  use_security(asked(Security::encrypted, Identity::receiver));
  EXPECT_EQ(variable("ROS_SECURITY_ENABLE"), "true");
  EXPECT_EQ(variable("ROS_SECURITY_STRATEGY"), "Enforce");
  // rcl makes the path from the keystore, "enclaves" and the enclave's name without its slash.
  EXPECT_EQ(variable("ROS_SECURITY_ENCLAVE_OVERRIDE"), "/receiver");
  const fs::path enclave = fs::path(variable("ROS_SECURITY_KEYSTORE")) / "enclaves/receiver";
  EXPECT_TRUE(fs::is_directory(enclave));
  EXPECT_EQ(enclave.string().rfind(scratch_.string(), 0), 0U) << "it is removed with the trial's folder";
}

TEST_F(Sros2, an_enclave_has_the_six_files_that_rmws_look_for_and_no_key_twice) {
  const fs::path enclave = fs::path(make_keystore(asked(Security::signed_, Identity::sender))) / "enclaves/sender";
  EXPECT_EQ(text(enclave / "identity_ca.cert.pem"), "ca.pem");
  EXPECT_EQ(text(enclave / "permissions_ca.cert.pem"), "ca.pem");
  EXPECT_EQ(text(enclave / "cert.pem"), "sender.pem");
  EXPECT_EQ(text(enclave / "key.pem"), "sender.key");
  EXPECT_EQ(text(enclave / "governance.p7s"), "governance-signed.p7s");
  EXPECT_EQ(text(enclave / "permissions.p7s"), "permissions.p7s");
  for (const auto& entry : fs::directory_iterator(enclave)) {
    EXPECT_TRUE(entry.is_symlink()) << entry.path();
    EXPECT_TRUE(entry.is_regular_file()) << "an RMW requires a regular file: " << entry.path();
  }
}

TEST_F(Sros2, an_intruder_has_a_certificate_of_the_trial_and_permissions_of_another_authority) {
  const fs::path keystore = make_keystore(asked(Security::encrypted, Identity::intruder));
  const fs::path enclave = keystore / "enclaves/intruder";
  EXPECT_EQ(text(enclave / "identity_ca.cert.pem"), "ca.pem");
  EXPECT_EQ(text(enclave / "cert.pem"), "intruder.pem");
  EXPECT_EQ(text(enclave / "permissions_ca.cert.pem"), "stranger-ca.pem");
  EXPECT_EQ(text(enclave / "permissions.p7s"), "stranger-permissions.p7s");
}

TEST_F(Sros2, the_security_variables_of_the_users_shell_are_ignored) {
  setenv("ROS_SECURITY_ENABLE", "true", 1);
  setenv("ROS_SECURITY_ENCLAVE_OVERRIDE", "/mine", 1);
  use_security(asked(Security::none, Identity::sender));
  EXPECT_EQ(variable("ROS_SECURITY_ENABLE"), "false");
  use_security(asked(Security::encrypted, Identity::sender));
  EXPECT_EQ(variable("ROS_SECURITY_ENCLAVE_OVERRIDE"), "/sender");
}

TEST_F(Sros2, a_set_without_the_governance_file_of_the_level_is_refused) {
  try {
    use_security(asked(Security::authenticated, Identity::sender));
    FAIL() << "the set was accepted";
  } catch (const AdapterError& error) {
    EXPECT_NE(std::string(error.what()).find("governance-authenticated.p7s does not exist"), std::string::npos);
  }
  EXPECT_NE(variable("ROS_SECURITY_KEYSTORE"), scratch_.string());
}

}  // namespace
}  // namespace middlemark::ros2::keystore_test
