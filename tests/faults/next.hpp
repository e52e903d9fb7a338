// The next function of that name, which would have been called without this library.
#pragma once

#include <dlfcn.h>

#define NEXT(function)                                                                               \
  ([] {                                                                                              \
    static const auto next = reinterpret_cast<decltype(&::function)>(::dlsym(RTLD_NEXT, #function)); \
    return next;                                                                                     \
  }())
