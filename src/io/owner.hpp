// Whose a file is, as far as that can be known.
#pragma once

#include <sys/types.h>

namespace tare::io {

// False for the number that stands for everybody who has none here: in a user namespace (a container without root), files of
// all users outside look as if they were one user's.
bool is_known(uid_t owner);

// The user of this process, or root: files of others may be anything.
bool is_trusted(uid_t owner);

}  // namespace tare::io
