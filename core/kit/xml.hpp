// Writes XML, for configuration files that own_settings() reports.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/kit/applied.hpp>

namespace middlemark::kit {

[[nodiscard]] inline std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// An element with either a text or child elements, in the order in which they were added.
class XmlElement {
 public:
  explicit XmlElement(std::string name) : name_(std::move(name)) {}

  XmlElement& attribute(std::string name, std::string value) {
    attributes_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// Adds an empty child and returns it. The reference is valid as long as this element exists.
  XmlElement& child(std::string name) { return children_.emplace_back(std::move(name)); }
  /// Adds a child with a text, and returns this element. Numbers and truth values are written as literals.
  template <class Value>
  XmlElement& add(std::string name, const Value& value) {
    child(std::move(name)).text_ = code_of(value);
    return *this;
  }
  void append(XmlElement child) { children_.push_back(std::move(child)); }
  [[nodiscard]] std::size_t size() const noexcept { return children_.size(); }
  [[nodiscard]] std::string text(const std::string& indent = "") const {
    std::string out = indent + "<" + name_;
    for (const auto& [name, value] : attributes_) out += " " + name + "=\"" + xml_escaped(value) + "\"";
    if (text_.empty() && children_.empty()) return out + "/>\n";
    out += ">" + xml_escaped(text_);
    if (children_.empty()) return out + "</" + name_ + ">\n";
    out += "\n";
    for (const XmlElement& child : children_) out += child.text(indent + "  ");
    return out + indent + "</" + name_ + ">\n";
  }

 private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> attributes_;
  std::string text_;
  std::list<XmlElement> children_;
};

}  // namespace middlemark::kit
