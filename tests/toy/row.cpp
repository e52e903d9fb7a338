// Adds the toy's row to the table of formats, in a program that links this file.
#include "formats/rows.hpp"
#include "toy/toy.hpp"

namespace tare {
namespace {

const bool kAdded = (add_format<toy::kFormat>(), true);

}  // namespace
}  // namespace tare
