// Where a path that the user named leads: an entry of an open directory, which may or may not exist.
//
// The path to the directory is trusted. A link as the last part is followed only if no other user can have put it
// there: it must belong to us or to root, in a directory where no other user can create it by renaming. From then on
// everything happens relative to the open directory.
//
// Content-addressed stores are recognised here, for all code that writes. A file of such a store is named by the digest
// of its bytes, and many links lead to it: the revisions of a model in Hugging Face's cache (snapshots/REVISION/FILE ->
// ../../blobs/DIGEST), the models of Ollama (blobs/sha256-DIGEST), DVC (.dvc/cache/files/md5/DI/GEST), Git LFS
// (.git/lfs/objects/DI/GE/DIGEST), git-annex (.git/annex/objects/X/Y/KEY/KEY). Changing one would change all of them and
// make the name wrong. So a link into a store is not followed: the place is the link itself, which a new file replaces. Other
// stores protect their files by making them read-only: a link to such a file is not followed either.
#pragma once

#include <cstdint>
#include <string>

#include "io/directory.hpp"
#include "tare/error.hpp"

namespace tare::io {

enum class Store : std::uint8_t {
  none,
  link,  // the name is a link to a file of a store, or to a read-only file
  blob,  // the name is a file of a store: refused by `refuse_blob`
};

struct Place {
  Directory parent;
  std::string name;   // a plain name; "." if the path ends in "." or "..", or is "/"
  bool link = false;  // a link led here
  // The name is a link of /proc to an open file that has no name, usually a pipe.
  bool magic = false;
  Store store = Store::none;
};

enum class FollowLinks : std::uint8_t { no, ours };

// Throws `rule` if the directory cannot be opened or links form a circle (instead `refused`, if given, as for inputs,
// unless something does not exist), and `io.sink.link` for a link that is not followed.
Place find_place(const std::string& path, std::string_view rule, std::string_view doing,
                 FollowLinks follow = FollowLinks::ours, std::string_view refused = {});

// Whether a file with this name in this directory belongs to a content-addressed store: the directory is "blobs" or
// directly below it ("blobs/sha256"), and the name is a hexadecimal digest, optionally after its algorithm
// ("sha256-..."); the last folder has the first two digits of a digest, and the name has the others; the last two
// folders repeat the first four digits of the name; or folder and name are the same key of git-annex ("SHA256E-s5--...").
bool is_blob_name(std::string_view folder, std::string_view name);
// Throws `io.sink.store` if the place is an existing file of a store. `doing`: what was to be done to it.
void refuse_blob(const Place& place, const std::string& path, std::string_view doing);

}  // namespace tare::io
