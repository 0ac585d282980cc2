// A user's own configuration file, of the kind that CYCLONEDDS_URI names. It is combined with the trial's
// configuration.
#pragma once

#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// Reads the file without the elements that the trial's factors set. Otherwise Cyclone DDS would use the file's network
/// interface as well as ours, and would ignore settings that the file has for another domain. Throws an AdapterError.
class UserFile {
 public:
  explicit UserFile(const std::optional<std::string>& path) {
    if (!path) return;
    std::ifstream file(*path, std::ios::binary);
    xml_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || xml_.empty()) {
      throw AdapterError("Cyclone DDS: config: " + *path + " cannot be read, or is empty",
                         "check that the file contains Cyclone DDS's XML");
    }
    remove("<!--", "-->");
    for (const char* name : {"Interfaces", "NetworkInterfaceAddress", "ExternalDomainId", "DDSSecurity", "Security"}) {
      const bool found = remove(std::string("<") + name + ">", std::string("</") + name + ">");
      if (found) removed_ += (removed_.empty() ? "" : ", ") + std::string(name);
    }
    xml_ = std::regex_replace(xml_, std::regex("<Domain(\\s[^>]*)?>", std::regex::icase), "<Domain Id=\"any\">");
  }

  /// The file's content without those elements; empty if there is no file.
  [[nodiscard]] const std::string& xml() const noexcept { return xml_; }

  [[nodiscard]] std::string note() const {
    return "config: the trial sets the domain, the interface, the transport and the security" +
           (removed_.empty() ? "" : "; ignored elements: " + removed_);
  }

 private:
  /// Removes each part from `begin` to `end`. Returns true if there was such a part.
  bool remove(const std::string& begin, const std::string& end) {
    bool found = false;
    for (std::size_t at = xml_.find(begin); at != xml_.npos; at = xml_.find(begin)) {
      const std::size_t last = xml_.find(end, at);
      if (last == xml_.npos) return found;
      xml_.erase(at, last + end.size() - at);
      found = true;
    }
    return found;
  }

  std::string xml_;
  std::string removed_;
};

}  // namespace middlemark::cyclonedds
