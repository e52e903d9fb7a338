// The reader of one format (TARE_FUZZ_FORMAT, a name from the table of formats): opens the bytes as `open` and as
// `verify` do, reads everything in them, and writes the model again. It must read back as the same.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "call.hpp"
#include "formats/format.hpp"
#include "mutators.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"

namespace {

using namespace tare;

// Larger models are not read: a small file may validly represent a large tensor.
constexpr std::uint64_t kMost = std::uint64_t{1} << 22;

class Collector final : public Diagnostics {
 public:
  void error(const Error&) override {}
  bool thorough() const override { return true; }
};

std::uint64_t bytes_of(const Model& model) {
  std::uint64_t sum = 0;
  for (const Tensor& tensor : model.tensors)
    for (const Component& component : tensor.components)
      if (__builtin_add_overflow(sum, component.blob.size(), &sum)) return UINT64_MAX;
  for (const Attachment& attachment : model.attachments)
    if (__builtin_add_overflow(sum, attachment.blob.size(), &sum)) return UINT64_MAX;
  return sum;
}

void check_data(const Model& model) {
  for (const Tensor& tensor : model.tensors) {
    const Codec* const codec = find_codec(tensor.layout);
    try {
      for (const Component& component : tensor.components) component.blob.verify();
      if (codec != nullptr && !codec->check(tensor)) codec->verify(tensor, [](const Problem&) {});
    } catch (const Error&) {
    }
  }
}

void write_again(const Format& format, const Model& model) {
  std::string digest;
  Bytes written;
  try {
    digest = content_digest(model, {.threads = 1});
    MemorySink sink;
    format.write(model, sink, {.work = {.threads = 1}});
    written = sink.take();
  } catch (const Error&) {
    return;  // invalid data, or a name that the writer does not accept
  }
  try {
    const fuzz::Call call(written.size());
    const Model back = format.read({"it", borrow_memory(written, "it")}, {});
    // A writer may add values that it computes, such as an identifier, but must not lose any.
    const bool kept = std::all_of(model.metadata.begin(), model.metadata.end(), [&](const auto& entry) {
      const Value* const found = back.metadata.find(entry.first);
      // Compares text, because NaN is not equal to itself; a format may fix the order of the keys in a map.
      return found != nullptr && to_json(*found, JsonKeys::sorted) == to_json(entry.second, JsonKeys::sorted);
    });
    if (content_digest(back, {.threads = 1}) == digest && kept) return;
    std::fprintf(stderr, "written and read again, the content is another\n");
  } catch (const Error& error) {
    // The writer needs fewer bytes for the same model, which lowers the limits.
    if (error.kind() == ErrorKind::limit) return;
    std::fprintf(stderr, "what was written cannot be read: %s\n", error.what());
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Format* const format = find_format(TARE_FUZZ_FORMAT);
  if (format == nullptr) std::abort();
  const SourcePtr source = borrow_memory(std::as_bytes(std::span(data, size)), "it");
  format->recognize(*source);
  Collector collector;
  try {
    const fuzz::Call call(size);
    const Model model = format->read({"it", source}, {.diagnostics = &collector});
    if (bytes_of(model) <= kMost) check_data(model);
  } catch (const Error&) {
  }
  try {
    const Model model = [&] {
      const fuzz::Call call(size);
      return format->read({"it", source}, {});
    }();
    if (bytes_of(model) <= kMost && format->write != nullptr) write_again(*format, model);
  } catch (const Error&) {
  }
  return 0;
}

TARE_FUZZ_MUTATES_FILES
