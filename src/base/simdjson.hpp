// simdjson without exceptions: a result that is used before its error was checked does not compile.
#pragma once

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>
