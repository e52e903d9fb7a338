// The commands that interop.py needs from Tare: list arrays, rewrite them, make many. One command per run;
// the rule of an error goes to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "formats/rows.hpp"
#include "tare/digest.hpp"
#include "tare/error.hpp"

namespace {

using namespace tare;

class Findings final : public Diagnostics {
 public:
  void note(const Error& about) override { fmt::print("note\t{}\t{}\n", about.rule(), about.item()); }
  void warning(const Error& about) override { fmt::print("warning\t{}\t{}\n", about.rule(), about.item()); }
  bool thorough() const override { return true; }
};

Model open_any(const std::string& path, Access access, Diagnostics* diagnostics = nullptr) {
  ReadOptions options;
  options.diagnostics = diagnostics;
  const SourcePtr source = open_file(path, access);
  const Format& format = npz::kFormat.recognize(*source) ? npz::kFormat : npy::kFormat;
  return format.read({path, source}, options);
}

// Prints name, storage type, logical type, shape, plain or not, offset, SHA-256 of the data.
void list(const std::string& path, Access access) {
  Findings findings;
  const Model model = open_any(path, access, &findings);
  for (const Tensor& tensor : model.tensors) {
    const Component& data = tensor.components.front();
    const Digest digest = digest_of(DigestAlgorithm::sha256, data.blob.bytes());
    fmt::print("tensor\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", tensor.name, name_of(data.dtype), data.type, tensor.shape.text(),
               data.blob.is_plain(), data.blob.offset(), digest.hex());
  }
  for (const Attachment& attachment : model.attachments)
    fmt::print("attachment\t{}\t{}\n", attachment.name, attachment.blob.size());
}

void rewrite(const std::string& from, const std::string& to, const Format& format) {
  const Model model = open_any(from, Access::mapped);
  const auto sink = to == "-" ? descriptor_sink(STDOUT_FILENO, "stdout") : create_file(to, {.overwrite = true});
  format.write(model, *sink, {});
  sink->commit();
}

// Makes `count` arrays of one byte.
void many(int count, const std::string& to) {
  Model model;
  for (int i = 0; i < count; ++i)
    model.tensors.push_back(dense(fmt::format("t{}", i), {1}, DType::u8, Blob::memory({static_cast<std::byte>(i)})));
  const auto sink = create_file(to, {.overwrite = true});
  npz::kFormat.write(model, *sink, {});
  sink->commit();
}

int run(const std::vector<std::string>& args) {
  if (args.size() == 2 && args[0] == "list") return list(args[1], Access::mapped), 0;
  if (args.size() == 2 && args[0] == "list-pread") return list(args[1], Access::pread), 0;
  if (args.size() == 3 && args[0] == "npz") return rewrite(args[1], args[2], npz::kFormat), 0;
  if (args.size() == 3 && args[0] == "npy") return rewrite(args[1], args[2], npy::kFormat), 0;
  if (args.size() == 3 && args[0] == "many") return many(std::stoi(args[1]), args[2]), 0;
  fmt::print(stderr, "usage: npz-tool list|list-pread FILE | npz|npy IN OUT | many COUNT OUT\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\t{}\n", error.rule(), error.what());
    return 1;
  }
}
