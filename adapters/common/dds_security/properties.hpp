// DDS Security 1.1 by a library's built-in plugins: the properties of a participant, and in the standard's words what its governance
// document switches on.
#pragma once

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::dds_security {

inline constexpr const char* prefix = "dds.sec.";

/// Within a process messages are handed over, and nothing protects them.
inline constexpr const char* why_not_within_a_process = "what stays within a process is not protected";

using Properties = std::vector<std::pair<std::string, std::string>>;

/// The files of this process's identity. `authentication`, `access`: how a library begins the names of its properties.
[[nodiscard]] inline Properties files(const Settings& settings, const std::string& authentication,
                                      const std::string& access) {
  const kit::Credentials credentials(settings);
  const std::string file = "file://";
  return {{authentication + "identity_ca", file + credentials.own_authority()},
          {authentication + "identity_certificate", file + credentials.certificate()},
          {authentication + "private_key", file + credentials.key()},
          {access + "permissions_ca", file + credentials.permissions_authority()},
          {access + "governance", file + credentials.governance(settings.security)},
          {access + "permissions", file + credentials.permissions()}};
}

/// What is in force between two that have met. `key_agreement`: as the library has it.
[[nodiscard]] inline std::string words(const Settings& settings, const std::string& key_agreement) {
  const std::string path = kit::Credentials(settings).governance(settings.security);
  std::ifstream file(path, std::ios::binary);
  const std::string governance(std::istreambuf_iterator<char>(file), {});
  std::string all = "DDS Security: PKI-DH (" + key_agreement + "), Permissions";
  std::string kinds;
  for (const std::string what : {"rtps", "metadata", "data"}) {
    const std::regex kind("<" + what + R"(_protection_kind>\s*(SIGN|ENCRYPT)(\w*)\s*<)");
    std::smatch found;
    if (!std::regex_search(governance, found, kind)) continue;
    kinds += (kinds.empty() ? "" : ", ") + what + " " + found[1].str() + found[2].str();
    kinds += found[1] == "SIGN" ? " (AES256-GMAC)" : " (AES256-GCM)";
  }
  return all + (kinds.empty() ? "" : ", AES-GCM-GMAC: " + kinds);
}

}  // namespace middlemark::dds_security
