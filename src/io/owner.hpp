// The owner of a file, as far as it can be known.
#pragma once

#include <sys/types.h>

namespace tare::io {

// False for the number that represents all users without one here: in a user namespace (a rootless container), files of
// all outside users appear to belong to a single user.
bool is_known(uid_t owner);

// Whether it is the user of this process, or root: files of other users may be anything.
bool is_trusted(uid_t owner);

}  // namespace tare::io
