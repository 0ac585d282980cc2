// A user's own configuration, as CYCLONEDDS_URI would name it. The trial's configuration is merged into it.
#pragma once

#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// Reads the file without the elements that the trial's factors set. Otherwise Cyclone DDS would use our network
/// interface in addition to the file's, and would ignore settings for another domain. Throws an AdapterError.
class UserFile {
 public:
  explicit UserFile(const std::optional<std::string>& path) {
    if (!path) return;
    std::ifstream file(*path, std::ios::binary);
    xml_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || xml_.empty()) {
      throw AdapterError("Cyclone DDS: config: " + *path + " cannot be read, or is empty",
                         "check that it is Cyclone DDS's XML");
    }
    take_out("<!--", "-->");
    for (const char* name : {"Interfaces", "NetworkInterfaceAddress", "ExternalDomainId", "DDSSecurity", "Security"}) {
      const bool found = take_out(std::string("<") + name + ">", std::string("</") + name + ">");
      if (found) taken_out_ += (taken_out_.empty() ? "" : ", ") + std::string(name);
    }
    xml_ = std::regex_replace(xml_, std::regex("<Domain(\\s[^>]*)?>", std::regex::icase), "<Domain Id=\"any\">");
  }

  /// Empty if there is no file.
  [[nodiscard]] const std::string& xml() const noexcept { return xml_; }

  [[nodiscard]] std::string note() const {
    return "config: the trial sets the domain, the interface, the transport and the security" +
           (taken_out_.empty() ? "" : "; ignored elements: " + taken_out_);
  }

 private:
  bool take_out(const std::string& begin, const std::string& end) {
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
  std::string taken_out_;
};

}  // namespace middlemark::cyclonedds
