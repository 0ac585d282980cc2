// Lets the workers of a trial find each other if their middleware has no discovery: they write files (notes) into the
// trial's scratch folder. Not on the hot path.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::kit {

class Rendezvous {
 public:
  explicit Rendezvous(const Settings& settings) : folder_(settings.scratch + "/") {}

  /// Writes a note for the other workers. Readers never see a partly written note.
  void leave(const std::string& name, const std::string& content = {}) const {
    const std::string aside = write_aside(content);
    if (std::rename(aside.c_str(), (folder_ + name).c_str()) != 0) fail("rename() to", name);
  }

  /// Returns the content of a note; nullopt if the note does not exist yet.
  [[nodiscard]] std::optional<std::string> find(const std::string& name) const {
    std::ifstream file(folder_ + name, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  /// Writes and reads a note that contains a plain value. Both workers must be of the same build.
  template <class Value>
    requires(std::is_trivially_copyable_v<Value> && !std::is_convertible_v<const Value&, std::string>)
  void leave(const std::string& name, const Value& value) const {
    leave(name, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }
  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  [[nodiscard]] std::optional<Value> find(const std::string& name) const {
    const std::optional<std::string> note = find(name);
    if (!note) return std::nullopt;
    if (note->size() != sizeof(Value)) throw AdapterError(folder_ + name + ": is not a note of this version");
    Value value;
    std::memcpy(&value, note->data(), sizeof value);
    return value;
  }

  /// Writes the note `name.N`, where N is the lowest free number. Returns the notes of all lower numbers, in order.
  [[nodiscard]] std::vector<std::string> join(const std::string& name, const std::string& content) const {
    const std::string aside = write_aside(content);
    std::vector<std::string> before;
    for (;;) {
      const std::string taken = name + "." + std::to_string(before.size());
      if (link(aside.c_str(), (folder_ + taken).c_str()) == 0) break;
      if (errno != EEXIST) fail("link() to", taken);
      before.push_back(find(taken).value_or(""));
    }
    unlink(aside.c_str());
    return before;
  }

 private:
  [[nodiscard]] std::string write_aside(const std::string& content) const {
    std::string aside = folder_ + "new." + std::to_string(getpid()) + "." + std::to_string(gettid());
    std::ofstream file(aside, std::ios::binary | std::ios::trunc);
    file << content;
    if (!file.flush()) fail("writing", aside);
    return aside;
  }
  [[noreturn]] void fail(const char* what, const std::string& name) const {
    const int error = errno;
    throw AdapterError(std::string(what) + " " + name + " in " + folder_ + ": " + std::strerror(error));
  }

  std::string folder_;
};

/// The name of the note of a subscriber (publisher) of a topic.
[[nodiscard]] inline std::string subscriber_note(const std::string& topic, unsigned index) {
  return topic + ".subscriber." + std::to_string(index);
}
[[nodiscard]] inline std::string publisher_note(const std::string& topic, unsigned index) {
  return topic + ".publisher." + std::to_string(index);
}

/// Counts the subscribers of a topic for a middleware that does not report them to the publisher: each subscriber leaves
/// a note when its subscription is complete.
class Attendance {
 public:
  Attendance(const Settings& settings, const Topic& topic)
      : notes_(settings), topic_(topic.name), expected_(topic.subscribers) {}

  /// Call in the subscriber with this index, when its subscription is complete.
  void attend(unsigned index) const { notes_.leave(subscriber_note(topic_, index)); }
  /// The number of subscribers that have called attend(), for matched().
  [[nodiscard]] std::size_t count() {
    while (found_ < expected_ && notes_.find(subscriber_note(topic_, found_))) ++found_;
    return found_;
  }

 private:
  Rendezvous notes_;
  std::string topic_;
  unsigned expected_;
  unsigned found_ = 0;
};

}  // namespace middlemark::kit
