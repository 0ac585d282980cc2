// This process's certificate and key in a trial with security: files in a folder whose layout is in docs/how-to/security.md. An
// adapter passes their paths to its middleware, or reads the files that it needs as text. Not on the hot path. No error,
// note or log contains a key.
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

  // Paths of X.509 files in PEM.
  [[nodiscard]] std::string authority() const { return folder_ + "ca.pem"; }
  [[nodiscard]] std::string certificate() const { return path(identity_, ".pem"); }
  [[nodiscard]] std::string key() const { return path(identity_, ".key"); }
  /// The authority that signed this process's own certificate. It differs from authority() if this process plays a
  /// stranger.
  [[nodiscard]] std::string own_authority() const { return folder_ + (strange() ? "stranger-ca.pem" : "ca.pem"); }

  // Paths of DDS Security documents. Another authority has signed the documents of a stranger and of an intruder.
  [[nodiscard]] std::string permissions_authority() const {
    return folder_ + (forged() ? "stranger-ca.pem" : "ca.pem");
  }
  [[nodiscard]] std::string permissions() const {
    return path(forged() ? "stranger-permissions" : "permissions", ".p7s");
  }
  [[nodiscard]] std::string governance(Security level) const {
    return path((forged() ? "stranger-governance-" : "governance-") + std::string(word(level)), ".p7s");
  }

  /// Returns the path of a file of any identity, such as "broker" for a companion.
  [[nodiscard]] std::string path(std::string_view identity, std::string_view ending) const {
    return folder_ + std::string(identity) + std::string(ending);
  }

  /// Returns the content of a file, without the line end. Throws an AdapterError that only names the file.
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
