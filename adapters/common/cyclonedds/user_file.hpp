// Reads a user's own configuration file, in the format for CYCLONEDDS_URI, so that the trial's configuration can
// include it.
#pragma once

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

[[nodiscard]] inline std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// An element in the text of a file: `begin` is the position of its first tag, `text` the position after this tag,
/// `close` the position of its last tag, and `end` the position after the element.
struct PlacedElement {
  std::string name;
  std::string parent;  ///< in lower case; empty if the element is not inside another one
  std::size_t begin = 0;
  std::size_t text = 0;
  std::size_t close = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t line(const std::string& xml) const {
    return 1 + static_cast<std::size_t>(std::ranges::count(std::string_view(xml).substr(0, begin), '\n'));
  }
  [[nodiscard]] std::string content(const std::string& xml) const {
    const std::string all = xml.substr(text, close - text);
    const std::size_t first = all.find_first_not_of(" \t\r\n");
    return first == all.npos ? "" : all.substr(first, all.find_last_not_of(" \t\r\n") + 1 - first);
  }
};

/// Returns the elements in the order of their first tags. Cyclone DDS reads a dialect of XML in which `</>` ends any
/// element and a root is not needed, so no XML parser can read every file. Does not report errors in the file; Cyclone
/// DDS does.
[[nodiscard]] inline std::vector<PlacedElement> placed_elements(const std::string& xml) {
  std::vector<PlacedElement> all;
  std::vector<std::size_t> open;
  const auto after = [&xml](std::string_view mark, std::size_t from) {
    const std::size_t found = xml.find(mark, from);
    return found == xml.npos ? xml.size() : found + mark.size();
  };
  for (std::size_t at = xml.find('<'); at != xml.npos; at = xml.find('<', at)) {
    if (xml.compare(at, 4, "<!--") == 0) {
      at = after("-->", at);
      continue;
    }
    std::size_t end = at + 1;
    for (char quote = 0; end < xml.size() && (quote != 0 || xml[end] != '>'); ++end) {
      if (quote == 0 && (xml[end] == '"' || xml[end] == '\'')) {
        quote = xml[end];
      } else if (xml[end] == quote) {
        quote = 0;
      }
    }
    end = std::min(end + 1, xml.size());
    if (xml.compare(at, 2, "</") == 0) {
      if (open.empty()) break;
      all[open.back()].close = at;
      all[open.back()].end = end;
      open.pop_back();
    } else if (xml.compare(at, 2, "<?") != 0 && xml.compare(at, 2, "<!") != 0) {
      const std::size_t first = at + 1;
      const std::string name = xml.substr(first, std::min(xml.find_first_of(" \t\r\n/>", first), xml.size()) - first);
      const std::string parent = open.empty() ? "" : lower(all[open.back()].name);
      const bool alone = xml[end - 2] == '/';
      const std::size_t last = alone ? end : xml.size();
      all.push_back({name, parent, at, end, last, last});
      if (!alone) open.push_back(all.size() - 1);
    }
    at = end;
  }
  return all;
}

/// Reads the file and leaves out the elements that the trial sets. With them, Cyclone DDS would use the file's network
/// interface in addition to ours, and would ignore the file's settings if they were for another domain. Throws an
/// AdapterError.
class UserFile {
 public:
  explicit UserFile(const std::optional<std::string>& path) {
    if (!path) return;
    path_ = *path;
    std::ifstream file(*path, std::ios::binary);
    xml_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || xml_.empty()) {
      throw AdapterError("Cyclone DDS: config: " + *path + " cannot be read, or is empty",
                         "check that the file contains Cyclone DDS's XML");
    }
    edit(placed_elements(xml_));
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the file's content without those elements; empty if there is no file. Line numbers are those of the file.
  [[nodiscard]] const std::string& xml() const noexcept { return xml_; }
  /// Returns the name of the file into which the trial writes Cyclone DDS's trace.
  [[nodiscard]] const std::string& trace() const noexcept { return trace_; }
  /// Returns the name of the file into which the trial writes captured packets; empty if there is none.
  [[nodiscard]] const std::string& packets() const noexcept { return packets_; }
  /// Returns true if the file names peers, or if its AllowMulticast excludes the discovery of participants (spdp).
  [[nodiscard]] bool discovers_by_unicast() const noexcept { return peers_ || !multicast_discovery_; }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all{"config: the trial sets the domain, the interface, the transport and the security" +
                                 (left_out_.empty() ? "" : "; left out: " + left_out_)};
    if (discovers_by_unicast()) all.emplace_back("config: the processes of a trial find each other at 127.0.0.1");
    std::string files = traces_ ? trace_ : "";
    if (!packets_.empty()) files += (files.empty() ? "" : " and ") + packets_;
    if (!files.empty()) {
      all.push_back("config: " + files + (traces_ && !packets_.empty() ? " are" : " is") +
                    " written to the trial's scratch folder, which is removed after the trial");
    }
    return all;
  }

  /// Returns the last part of a path. The file is written to the scratch folder under this name.
  [[nodiscard]] static std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

 private:
  void edit(const std::vector<PlacedElement>& all) {
    static const std::set<std::string> unwanted{"interfaces",
                                                "networkinterfaceaddress",
                                                "multicastrecvnetworkinterfaceaddresses",
                                                "assumemulticastcapable",
                                                "externalnetworkaddress",
                                                "externalnetworkmask",
                                                "externaldomainid",
                                                "peers",
                                                "sharedmemory",
                                                "ddssecurity",
                                                "security"};
    std::string edited;
    std::size_t kept = 0;  // `edited` contains the file up to this position
    const auto replace = [&](std::size_t begin, std::size_t end, const std::string& by) {
      edited += xml_.substr(kept, begin - kept) + by;
      edited.append(static_cast<std::size_t>(std::count(xml_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                        xml_.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                    '\n');
      kept = end;
    };
    for (const PlacedElement& each : all) {
      if (each.begin < kept) continue;
      const std::string name = lower(each.name);
      const std::string text = each.content(xml_);
      refuse_tcp(each, name, lower(text));
      if (unwanted.contains(name) || (name == "id" && each.parent == "domain")) {
        peers_ = peers_ || name == "peers";
        left_out_ += (left_out_.empty() ? "" : ", ") + each.name + " (line " + std::to_string(each.line(xml_)) + ")";
        replace(each.begin, each.end, "");
      } else if (name == "outputfile") {
        trace_ = text == "stdout" || text == "stderr" ? text + ".${CYCLONEDDS_PID}.log" : file_name(text);
        replace(each.begin, each.end, "");
      } else if (name == "packetcapturefile") {
        packets_ = file_name(text);
        replace(each.begin, each.end, "");
      } else if (name == "domain") {
        replace(each.begin, each.text, each.text == each.end ? R"(<Domain Id="any"/>)" : R"(<Domain Id="any">)");
      }
      if (name == "allowmulticast") {
        const std::string allowed = lower(text);
        multicast_discovery_ = allowed == "true" || allowed == "default" || allowed.find("spdp") != allowed.npos;
      }
      traces_ = traces_ || name == "outputfile" || (name == "verbosity" && lower(text) != "none");
    }
    edited += xml_.substr(kept);
    xml_ = std::move(edited);
    if (all.empty()) return;
    const std::string root = lower(all.front().name);
    if (root == "cyclonedds") return;
    const bool domain = root == "domain";
    xml_ = (domain ? "<CycloneDDS>" : "<CycloneDDS><Domain Id=\"any\">") + xml_ + (domain ? "</>" : "</></>");
  }

  void refuse_tcp(const PlacedElement& each, const std::string& name, const std::string& text) const {
    const bool transport = name == "transport" && each.parent == "general" && text != "default" && text != "udp";
    const bool enabled = name == "enable" && (each.parent == "tcp" || each.parent == "ssl") && text == "true";
    if (!transport && !enabled) return;
    throw AdapterError("Cyclone DDS: config: " + path_ + ": line " + std::to_string(each.line(xml_)) + ": " +
                           (transport              ? "Transport "
                            : each.parent == "tcp" ? "TCP/Enable "
                                                   : "SSL/Enable ") +
                           text + ": the processes of a trial find each other by UDP",
                       "remove this element");
  }

  std::string path_;
  std::string xml_;
  std::string left_out_;
  std::string trace_ = "cyclonedds.${CYCLONEDDS_PID}.log";
  std::string packets_;
  bool traces_ = false;
  bool peers_ = false;
  bool multicast_discovery_ = true;
};

}  // namespace middlemark::cyclonedds
