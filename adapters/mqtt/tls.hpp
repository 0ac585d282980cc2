// TLS to the broker. Client and broker each present a certificate of the trial's authority, and the broker grants
// permissions by the name in a client's certificate. Not on the hot path.
#pragma once

#ifdef MIDDLEMARK_MQTT_HAS_TLS
#include <mosquitto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#endif

#include <cstdio>
#include <memory>
#include <string>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::mqtt {

#ifdef MIDDLEMARK_MQTT_HAS_TLS
inline constexpr bool has_tls = true;

/// Returns the common name in the certificate at `path`, which the broker uses as the user's name.
[[nodiscard]] inline std::string user_of(const std::string& path) {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  X509* const read = file ? PEM_read_X509(file.get(), nullptr, nullptr, nullptr) : nullptr;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(read, &X509_free);
  std::string name(256, '\0');
  const int length = read == nullptr ? -1
                                     : X509_NAME_get_text_by_NID(X509_get_subject_name(read), NID_commonName,
                                                                 name.data(), static_cast<int>(name.size()));
  if (length <= 0) throw AdapterError("mqtt: " + path + ": cannot be read, or is not a certificate with a common name");
  name.resize(static_cast<std::size_t>(length));
  return name;
}

/// Returns the algorithms in use, such as "TLSv1.3: TLS_AES_256_GCM_SHA384, x25519, to the broker and from it". Empty
/// if the broker's certificate was not verified.
[[nodiscard]] inline std::string algorithms_of(mosquitto* client) {
  auto* const ssl = static_cast<SSL*>(mosquitto_ssl_get(client));
  if (ssl == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return {};
  const char* const group = SSL_group_to_name(ssl, static_cast<int>(SSL_get_negotiated_group(ssl)));
  return std::string(SSL_get_version(ssl)) + ": " + SSL_get_cipher_name(ssl) + (group != nullptr ? ", " : "") +
         (group != nullptr ? group : "") + ", to the broker and from it";
}
#else
inline constexpr bool has_tls = false;
inline std::string user_of(const std::string& /*path*/) { return {}; }
template <class Client>
std::string algorithms_of(Client* /*client*/) {
  return {};
}
#endif

/// Returns the lines on TLS in the broker's configuration. `permissions`: the path of the file that contains
/// permissions_text().
[[nodiscard]] inline std::string listener_text(const Settings& settings, const std::string& permissions) {
  const kit::Credentials set(settings);
  return "cafile " + set.authority() + "\ncertfile " + set.path("broker", ".pem") + "\nkeyfile " +
         set.path("broker", ".key") +
         "\ntls_version tlsv1.3\nrequire_certificate true\nuse_identity_as_username true\nallow_anonymous false\n"
         "acl_file " +
         permissions + '\n';
}

/// Returns the broker's list of permissions. A user without a line may neither publish nor receive.
[[nodiscard]] inline std::string permissions_text(const Settings& settings) {
  const kit::Credentials set(settings);
  std::string text;
  for (const char* const party : {"sender", "receiver"}) {
    text += "user " + user_of(set.path(party, ".pem")) + "\ntopic readwrite #\n";
  }
  return text;
}

}  // namespace middlemark::mqtt
