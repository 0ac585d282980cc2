// The records of a samples file.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace middlemark::test {

template <class Record>
std::vector<Record> records(const TemporaryFolder& folder, const std::string& name) {
  std::ifstream file(folder / name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::uint16_t header = 0;
  if (bytes.size() < 10) return {};
  std::memcpy(&header, bytes.data() + 8, sizeof header);
  const std::size_t begin = 10U + header;
  std::vector<Record> found((bytes.size() - begin) / sizeof(Record));
  std::memcpy(found.data(), bytes.data() + begin, found.size() * sizeof(Record));
  return found;
}

}  // namespace middlemark::test
