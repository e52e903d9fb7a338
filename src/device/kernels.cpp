#include "device/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/kernels_ptx.hpp"

namespace tare::device {

Kernels::~Kernels() {
  for (const auto& [name, loaded] : loaded_) context_.driver().module_unload(loaded.module);
}

void Kernels::prepare(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  if (loaded_.contains(name)) return;
  const auto row = std::ranges::find(all_ptx(), name, &Ptx::name);
  const std::string text = fmt::format("{}{}", ptx_head(), row->text);
  const Driver& driver = context_.driver();
  Loaded loaded;
  context_.check(driver.module_load(&loaded.module, text.c_str()), fmt::format("compile the kernel {}", name));
  const Result found = driver.module_function(&loaded.function, loaded.module, std::string(name).c_str());
  if (found != 0) driver.module_unload(loaded.module);
  context_.check(found, fmt::format("find the kernel {}", name));
  loaded_.emplace(name, loaded);
}

void Kernels::launch(std::string_view name, Call call, std::uint64_t threads, StreamHandle stream) {
  constexpr std::uint64_t kThreads = 256;
  const std::uint64_t blocks = (threads + kThreads - 1) / kThreads;
  if (blocks == 0) return;
  void* arguments[] = {&call.planes[0],  &call.planes[1],  &call.planes[2], &call.out, &call.first,
                       &call.numbers[0], &call.numbers[1], &call.count,     &call.kind};
  FunctionHandle function = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    function = loaded_.find(name)->second.function;
  }
  context_.check(context_.driver().launch(function, static_cast<unsigned>(blocks), 1, 1, kThreads, 1, 1, 0, stream,
                                          arguments, nullptr),
                 fmt::format("run the kernel {}", name));
}

}  // namespace tare::device
