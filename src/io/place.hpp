// Where a path that the user named leads: an entry of an open directory, which may or may not be there.
//
// The way to the directory is the user's word. A link as the last part is followed only if nobody else can have planted
// it: it must belong to us or to root, in a directory where nobody else can put it by renaming. From then on everything happens
// relative to the open directory.
//
// Content-addressed stores are recognised here, for everybody who writes. A file of such a store is named by the digest of its
// bytes, and many links lead to it: the revisions of a model in Hugging Face's cache (snapshots/REVISION/FILE ->
// ../../blobs/DIGEST), the models of Ollama (blobs/sha256-DIGEST). Changing one changes all of them and makes the name a lie.
// So a link into a store is not followed: the place is the link itself, which a new file replaces.
#pragma once

#include <cstdint>
#include <string>

#include "io/directory.hpp"
#include "tare/error.hpp"

namespace tare::io {

enum class Store : std::uint8_t {
  none,
  link,  // the name is that of a link to a file of a store
  blob,  // the name is that of a file of a store: refused by `refuse_blob`
};

struct Place {
  Directory parent;
  std::string name;    // a plain name; "." where the path ends in "." or "..", or is "/"
  bool link = false;   // a link led here
  bool magic = false;  // the name is a link of /proc to an open file that has no name of its own: a pipe, most often
  Store store = Store::none;
};

enum class FollowLinks : std::uint8_t { no, ours };

// Throws `rule` when the directory cannot be opened or links lead in a circle (`refused`, if there is one, for every reason but
// that something does not exist), `io.sink.link` for a link that is not followed.
Place find_place(const std::string& path, std::string_view rule, std::string_view doing,
                 FollowLinks follow = FollowLinks::ours, std::string_view refused = {});

// Whether a file of this name in a directory of this path belongs to a content-addressed store: "blobs", or one folder below
// it ("blobs/sha256"), and a name that is a digest in hexadecimal, with or without its algorithm in front ("sha256-...").
bool is_blob_name(std::string_view folder, std::string_view name);
// Throws `io.sink.store` if the place is a file of a store that exists. `doing`: what was to be done to it.
void refuse_blob(const Place& place, const std::string& path, std::string_view doing);

}  // namespace tare::io
