#pragma once

#include "formats/format.hpp"

namespace tare::toy {
extern const Format kFormat;
}
