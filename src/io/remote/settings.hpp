// Settings from the environment. docs/remote.md lists the variables.
#pragma once

#include <cstdint>
#include <string>

namespace tare::io::remote {

// The value of a variable; empty if it is not set.
std::string variable(const char* name);
// The home directory, or empty.
std::string home();

// TARE_REMOTE_ALLOW has these words.
bool allows_private();  // "private": redirects to private addresses
bool allows_plain();    // "http": addresses without TLS beyond this machine
// Seconds without progress after which a transfer fails: TARE_REMOTE_TIMEOUT, from 1 to 3600, else 20.
long patience();

}  // namespace tare::io::remote
