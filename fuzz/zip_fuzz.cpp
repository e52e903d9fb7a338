// Zip archives: the directory, and the data of every member.
#include "call.hpp"
#include "mutators.hpp"
#include "wire/zip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  struct Collector final : Diagnostics {
    void error(const Error&) override {}
    bool thorough() const override { return true; }
  } collector;
  const SourcePtr source = borrow_memory(std::as_bytes(std::span(data, size)), "it");
  const fuzz::Call call(size);
  try {
    const auto members = wire::read_zip(*source, std::uint64_t{1} << 30, collector);
    wire::check_zip_crcs(*source, members, collector);
    for (const auto& member : members) {
      if (member.size > (std::uint64_t{1} << 22)) continue;
      try {
        static_cast<void>(wire::zip_blob(source, member).bytes());
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}

TARE_FUZZ_MUTATES_FILES
