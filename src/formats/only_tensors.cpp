#include "formats/only_tensors.hpp"

namespace tare {
namespace {

thread_local int only_tensors = 0;

}  // namespace

OnlyTensors::OnlyTensors() noexcept { ++only_tensors; }

OnlyTensors::~OnlyTensors() { --only_tensors; }

bool OnlyTensors::wanted() noexcept { return only_tensors > 0; }

}  // namespace tare
