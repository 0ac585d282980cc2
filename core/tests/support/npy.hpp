// Parses a .npy file, independent of the code that writes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

namespace middlemark::test {

struct Npy {
  explicit Npy(const std::string& path) : content(read_file(path)) {
    if (content.size() < 10)
      throw std::runtime_error("no .npy preamble in " + std::to_string(content.size()) + " bytes");
    magic = content.substr(0, 6);
    major = static_cast<unsigned char>(content[6]);
    minor = static_cast<unsigned char>(content[7]);
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(content[8])) |
                        static_cast<std::size_t>(static_cast<unsigned char>(content[9])) << 8;
    header = content.substr(10, length);
    data_offset = 10 + length;
    for (std::size_t at = header.find("('"); at != std::string::npos; at = header.find("('", at + 1)) {
      const std::size_t name_end = header.find("', '<u", at);
      if (name_end == std::string::npos) throw std::runtime_error("not an unsigned field: " + header.substr(at));
      fields.emplace_back(header.substr(at + 2, name_end - at - 2), std::stoul(header.substr(name_end + 6)));
    }
    const std::string before_count = "'shape': (";
    const std::size_t shape = header.find(before_count);
    if (shape != std::string::npos) count = std::stoull(header.substr(shape + before_count.size()));
    one_dimension = shape != std::string::npos && header.find(",), }", shape) != std::string::npos;
  }

  template <class Record>
  [[nodiscard]] Record record(std::size_t index) const {
    const std::size_t at = data_offset + index * sizeof(Record);
    if (content.size() < at + sizeof(Record)) throw std::runtime_error("no record " + std::to_string(index));
    Record record;
    std::memcpy(&record, content.data() + at, sizeof record);
    return record;
  }

  std::string content;
  std::string magic;
  int major = -1;
  int minor = -1;
  std::string header;
  std::size_t data_offset = 0;
  std::vector<std::pair<std::string, std::size_t>> fields;
  std::uint64_t count = ~std::uint64_t{0};
  bool one_dimension = false;
};

}  // namespace middlemark::test
