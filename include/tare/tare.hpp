// Everything: #include <tare/tare.hpp>.
#pragma once

#include "tare/append.hpp"
#include "tare/change.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"
#include "tare/format.hpp"
#include "tare/formats/mcf.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"
#include "tare/model.hpp"
#include "tare/quantize.hpp"
#include "tare/rows.hpp"
#include "tare/slice.hpp"
#include "tare/unfinished.hpp"
#include "tare/version.hpp"
