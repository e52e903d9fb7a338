// The function of that name that would have been called without us.
#pragma once

#include <dlfcn.h>

#define NEXT(function)                                                                               \
  ([] {                                                                                              \
    static const auto next = reinterpret_cast<decltype(&::function)>(::dlsym(RTLD_NEXT, #function)); \
    return next;                                                                                     \
  }())
