// Collects the calls and assignments with which an adapter set up its middleware, as lines of code for own_settings().
//
//   kit::CodeBlock block("publisher");
//   block.call("zmq_setsockopt", "socket", "ZMQ_SNDHWM", depth);   // zmq_setsockopt(socket, ZMQ_SNDHWM, 10);
//   block.assign("options.queueCapacity", options.queueCapacity);  // options.queueCapacity = 10;
//   applied_.add(block);  // or: CodeBlock& block = applied_.begin("publisher")
//
// Texts are written without quotation marks, because they are names of constants. Numbers and truth values are written
// as literals.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <middlemark/protocol.hpp>

namespace middlemark::kit {

template <class Value>
[[nodiscard]] std::string code_of(const Value& value) {
  if constexpr (std::same_as<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::integral<Value> || std::floating_point<Value>) {
    return std::to_string(value);
  } else {
    return std::string(value);
  }
}

/// The lines that set up one object, below a comment that names the object. A line that is added twice appears once.
class CodeBlock {
 public:
  explicit CodeBlock(std::string_view object) { line("// " + std::string(object)); }

  template <class... Arguments>
  CodeBlock& call(std::string_view function, const Arguments&... arguments) {
    std::string listed;
    ((listed += (listed.empty() ? "" : ", ") + code_of(arguments)), ...);
    return line(std::string(function) + "(" + listed + ");");
  }
  template <class Value>
  CodeBlock& assign(std::string_view member, const Value& value) {
    return line(std::string(member) + " = " + code_of(value) + ";");
  }
  CodeBlock& line(const std::string& line) {
    if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(line);
    return *this;
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  std::vector<std::string> lines_;
};

/// Returns each line of a text as a comment.
[[nodiscard]] inline std::string commented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.append("//").append(end == 0 ? "" : " ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// The blocks of a process in the order in which they were added. Only the main thread uses it, before the start.
class AppliedCode {
 public:
  void add(CodeBlock block) { blocks_.push_back(std::move(block)); }
  /// Adds an empty block for the caller to fill. The reference is valid as long as this object exists.
  [[nodiscard]] CodeBlock& begin(std::string_view object) { return blocks_.emplace_back(object); }

  /// Returns all blocks. Blocks with equal lines appear once.
  [[nodiscard]] OwnSettings settings(Language language) const {
    OwnSettings settings{.language = language};
    std::set<std::string> written;
    for (const CodeBlock& block : blocks_) {
      if (written.insert(block.text()).second) settings.text += block.text();
    }
    return settings;
  }

 private:
  std::deque<CodeBlock> blocks_;
};

}  // namespace middlemark::kit
