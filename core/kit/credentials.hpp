// This process's certificate and key in a trial with security: files of the trial's set, laid out as docs/security.md says. An adapter
// gives their paths to its middleware, or reads what has to be text. Cold. No key stands in an error, a note or a log.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <middlemark/settings.hpp>

namespace middlemark::kit {

class Credentials {
 public:
  explicit Credentials(const Settings& settings) : folder_(settings.certs + "/"), identity_(word(settings.identity)) {}

  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }

  // X.509, in PEM: paths.
  [[nodiscard]] std::string authority() const { return folder_ + "ca.pem"; }
  [[nodiscard]] std::string certificate() const { return path(identity_, ".pem"); }
  [[nodiscard]] std::string key() const { return path(identity_, ".key"); }
  /// Whose this process's own certificate is: a stranger's is of another authority.
  [[nodiscard]] std::string own_authority() const { return folder_ + (strange() ? "stranger-ca.pem" : "ca.pem"); }

  // Documents of DDS Security: paths. A stranger and an intruder show for the authority's what another one has signed.
  [[nodiscard]] std::string permissions_authority() const {
    return folder_ + (forged() ? "stranger-ca.pem" : "ca.pem");
  }
  [[nodiscard]] std::string permissions() const {
    return path(forged() ? "stranger-permissions" : "permissions", ".p7s");
  }
  [[nodiscard]] std::string governance(Security level) const {
    return path((forged() ? "stranger-governance-" : "governance-") + std::string(word(level)), ".p7s");
  }

  /// Another identity's: a companion's is "broker".
  [[nodiscard]] std::string path(std::string_view identity, std::string_view ending) const {
    return folder_ + std::string(identity) + std::string(ending);
  }

  /// The text of a file of the set, without the line end. Throws AdapterError, which names the file alone.
  [[nodiscard]] std::string read(std::string_view identity, std::string_view ending) const {
    const std::string from = path(identity, ending);
    std::ifstream file(from, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw AdapterError(from + " cannot be read", "`middlemark certs FOLDER` makes a whole set");
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    return text;
  }

 private:
  [[nodiscard]] bool strange() const noexcept { return identity_ == word(Identity::stranger); }
  [[nodiscard]] bool forged() const noexcept { return strange() || identity_ == word(Identity::intruder); }

  std::string folder_;
  std::string identity_;
};

}  // namespace middlemark::kit
