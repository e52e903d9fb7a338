// A directory of this process, in memory if possible, which is empty for every input.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace tare::fuzz {

class Place {
 public:
  Place() : path_(below() + "/tare-fuzz-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) {
      std::fprintf(stderr, "no temporary directory at %s\n", path_.c_str());
      std::abort();
    }
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_)) std::filesystem::remove_all(entry.path());
  }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  // tools/fuzz names one, and removes what a crashed process left there.
  static std::string below() {
    if (const char* const named = std::getenv("TARE_FUZZ_PLACE")) return named;
    return ::access("/dev/shm", W_OK | X_OK) == 0 ? std::string("/dev/shm")
                                                  : std::filesystem::temp_directory_path().string();
  }

  std::string path_;
};

// Writes nothing if the name exists already or leads through a file.
inline void put_file(const std::string& path, std::span<const std::byte> bytes) {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (problem || std::filesystem::exists(std::filesystem::symlink_status(path, problem))) return;
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace tare::fuzz
