// Repositories of the Hugging Face Hub, and of servers with its interface (HF_ENDPOINT).
//
//   hf://ORG/NAME[@REVISION][/PATH], hf:ORG/NAME...    a repository is a directory; @refs/pr/1 works, too
//
// One request lists a repository: GET /api/models/ORG/NAME/revision/REVISION?blobs=true gives the commit, and the path, size and
// digest of each file. Files are read from /ORG/NAME/resolve/COMMIT/PATH, so that all are of one state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/remote/fetch.hpp"

namespace tare::io::remote {

struct HubPath {
  std::string repository;  // "org/name"
  std::string revision;    // "main" if none is named
  std::string path;        // inside it, without slashes at both ends; empty: all of it
};

bool is_hub(std::string_view address);
// Throws `remote.url`.
HubPath parse_hub(std::string_view address);

struct HubFile {
  std::uint64_t size = 0;
  std::string content;  // as in Identity
};

class HubRepository {
 public:
  const HubFile* file(const std::string& path) const;
  bool has_folder(const std::string& path) const;
  // Names in a folder: files and folders, sorted.
  std::vector<std::string> names(const std::string& folder) const;
  Url url_of(const std::string& path) const;
  const Credential& credential() const { return credential_; }
  // The file in Hugging Face's own cache directory, where huggingface_hub keeps what it has downloaded; empty: it is not there.
  std::string downloaded(const HubFile& file) const;

 private:
  friend std::shared_ptr<const HubRepository> open_repository(const HubPath& path);

  Url endpoint_;
  Credential credential_;
  std::string repository_, commit_;
  std::map<std::string, HubFile, std::less<>> files_;
};

// The listing is kept for a minute, so that one run of the command asks once. Throws `remote.*`.
std::shared_ptr<const HubRepository> open_repository(const HubPath& path);

}  // namespace tare::io::remote
