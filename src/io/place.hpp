// Where a path that the user named leads: an entry of an open directory, which may or may not be there.
//
// The way to the directory is the user's word. A link as the last part is followed only if nobody else can have planted
// it: it must belong to us or to root, in a directory where nobody else can put it by renaming. From then on everything happens
// relative to the open directory.
#pragma once

#include <cstdint>
#include <string>

#include "io/directory.hpp"
#include "tare/error.hpp"

namespace tare::io {

struct Place {
  Directory parent;
  std::string name;    // a plain name; "." where the path ends in "." or "..", or is "/"
  bool link = false;   // a link led here
  bool magic = false;  // the name is a link of /proc to an open file that has no name of its own: a pipe, most often
};

enum class FollowLinks : std::uint8_t { no, ours };

// Throws `rule` when the directory cannot be opened or links lead in a circle, `io.sink.link` for a link that is not followed.
Place find_place(const std::string& path, std::string_view rule, std::string_view doing,
                 FollowLinks follow = FollowLinks::ours);

}  // namespace tare::io
