#pragma once

#include "tare/format.hpp"

namespace tare::toy {
extern const Format kFormat;
}
