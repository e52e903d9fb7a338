// A file that changes while it is read: bytes are replaced between two accesses, as another process might do. The
// result may be an error or wrong numbers, but never a memory error or another exception.
//
// The input: the format (0: the format of the file, else its index in the table + 1), whether views are offered, the
// number of changes, each as the number of accesses before it, the offset and the byte; then the file.
#include <cstring>
#include <vector>

#include "call.hpp"
#include "formats/format.hpp"
#include "script.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"
#include "tare/rows.hpp"

namespace {

using namespace tare;
using fuzz::Script;

constexpr std::uint64_t kMost = std::uint64_t{1} << 20;  // decoded bytes of a tensor

struct Replacement {
  std::uint64_t after;
  std::size_t where;
  std::byte what;
};

class ChangingSource final : public Source {
 public:
  ChangingSource(Bytes bytes, std::vector<Replacement> changes, bool viewed)
      : Source("it", bytes.size()), bytes_(std::move(bytes)), changes_(std::move(changes)), viewed_(viewed) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    change();
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  // Earlier views of the same bytes change too.
  const std::byte* do_view() const override {
    change();
    return viewed_ ? bytes_.data() : nullptr;
  }

 private:
  void change() const {
    ++accesses_;
    for (const Replacement& c : changes_)
      if (c.after == accesses_ && !bytes_.empty()) bytes_[c.where % bytes_.size()] = c.what;
  }

  mutable Bytes bytes_;
  std::vector<Replacement> changes_;
  bool viewed_;
  mutable std::uint64_t accesses_ = 0;
};

class Collector final : public Diagnostics {
 public:
  void error(const Error&) override {}
  bool thorough() const override { return true; }
};

template <typename Action>
void try_it(const Action& action) {
  try {
    action();
  } catch (const Error&) {
  }
}

void multiply(const Tensor& tensor) {
  const auto rows = open_rows(tensor);
  if (rows->rows() == 0 || rows->columns() > kMost) return;
  const std::vector<float> vector(static_cast<std::size_t>(rows->columns()), 1);
  std::vector<float> out(1);
  rows->dot(rows->rows() - 1, 1, vector, out);
}

void use(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  for (const Component& component : tensor.components)
    if (component.blob.size() <= kMost) try_it([&] { component.blob.verify(), (void)component.blob.bytes(); });
  if (codec == nullptr) return;
  try_it([&] {
    if (tensor.bytes() <= kMost && !codec->check(tensor)) codec->verify(tensor, [](const Problem&) {});
  });
  try_it([&] {
    const Tensor decoded = to_dense(tensor);
    if (decoded.bytes() <= kMost) (void)decoded.components[0].blob.bytes();
  });
  try_it([&] { multiply(tensor); });
}

const Format* recognized(std::span<const std::byte> file) {
  const SourcePtr source = borrow_memory(file);
  const Format* found = nullptr;
  for (const Format& format : formats())
    try_it([&] {
      if (found == nullptr && format.recognize != nullptr && format.recognize(*source)) found = &format;
    });
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(std::as_bytes(std::span(data, size)));
  const std::size_t place = script.below(1 + formats().size());
  const bool viewed = script.coin();
  std::vector<Replacement> changes(script.below(32));
  for (Replacement& c : changes) c = {1U + script.byte(), script.word(), std::byte{script.byte()}};
  const auto file = script.rest();
  const Format* const format = place == 0 ? recognized(file) : &formats()[place - 1];
  if (format == nullptr || format->recognize == nullptr || format->read == nullptr) return 0;
  const auto source = std::make_shared<ChangingSource>(Bytes(file.begin(), file.end()), changes, viewed);
  Collector collector;
  try_it([&] {
    const fuzz::Call call(size);
    const Model model = format->read({"it", source}, {.diagnostics = &collector});
    for (const Tensor& tensor : model.tensors) use(tensor);
  });
  return 0;
}
