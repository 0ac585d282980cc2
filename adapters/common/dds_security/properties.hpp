// Sets up DDS Security 1.1 with a library's built-in plugins. Returns the properties of a participant, and a text with
// the protection that its governance document enables, in the standard's words.
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

/// The reason why a transport within one process has no security level.
inline constexpr const char* why_not_within_a_process = "messages within a process are not protected";

using Properties = std::vector<std::pair<std::string, std::string>>;

/// Returns the properties with the paths of this process's certificate, key, permissions and authorities.
/// `authentication` and `access` are the prefixes of the library's property names.
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

/// Returns a text that names the protection between two participants. `key_agreement`: the library's name of the key
/// agreement that it uses.
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
