// simdjson without its exceptions: a result that is used before its error was looked at does not compile.
#pragma once

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>
