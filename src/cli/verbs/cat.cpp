// cat: prints a tensor's bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"
#include "cli/advice.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/packed_remarks.hpp"
#include "cli/verbs.hpp"
#include "convert/adapt.hpp"
#include "convert/steps/packed_guard.hpp"
#include "model/copy_blob.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::cli::cat_verb {
namespace {

// Returns raw, f32, and every container of exactly one tensor that can be written to a pipe.
Words as_words() {
  Words words{"raw", "f32"};
  for (const Format& format : formats())
    if (!format.holds.many_tensors && format.holds.forward_only && format.write != nullptr)
      words.emplace_back(format.name);
  return words;
}

const Component& pick_component(const Tensor& tensor, const Arguments& arguments, const std::string& file) {
  const std::string role = arguments.get("component");
  if (const Component* found = role.empty() ? nullptr : tensor.component(role)) return *found;
  if (role.empty() && tensor.components.size() == 1) return tensor.components[0];
  std::vector<std::string> roles;
  for (const Component& component : tensor.components) roles.push_back(component.role);
  if (role.empty())
    throw UsageError(fmt::format("{} has several components ({}): choose one with --component, or decode it with --as",
                                 quote(tensor.name), fmt::join(roles, ", ")));
  throw Error(ErrorKind::not_found, "cli.component",
              fmt::format("no component '{}'; it has {}", role, fmt::join(roles, ", ")))
      .in(file)
      .about(quote(tensor.name));
}

// Returns the requested part as one dense tensor.
Tensor dense_part(const Tensor& tensor, const Arguments& arguments) {
  Tensor part = to_dense(tensor);
  if (arguments.has("slice")) part = slice(part, parse_slice(arguments.get("slice")));
  return part;
}

// Refuses to write the codes of packed weights as if they were numbers.
void refuse_codes(const Model& model, const Tensor& tensor, const std::string& file, const std::string& as) {
  const std::string why = why_codes(model, tensor);
  if (why.empty()) return;
  throw Error(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("{}: as {} they would be taken for the weights; without --as they are written as they are", why, as))
      .in(file)
      .about("tensor " + quote(tensor.name));
}

void write_as_format(const Format& format, const Model& from, Tensor tensor, const Arguments& arguments,
                     Session& session) {
  Model model;
  tensor.attributes = {};
  model.tensors.push_back(std::move(tensor));
  Adapted adapted = adapt(std::move(model), format);
  OutputTarget target(arguments, session, true);
  format.write(adapted.model, target.sink(), write_options(arguments));
  from.check_sources();
  target.commit();
  for (const Change& change : adapted.changes) session.remark(text_of(change, &kVerb));
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const std::string as = arguments.get("as", "raw");
  if (as != "raw" && arguments.has("component"))
    throw UsageError(fmt::format("--component is for raw bytes; --as {} decodes the whole tensor", as));
  if (as != "f32" && arguments.has("overflow")) throw UsageError("--overflow needs --as f32");
  if (arguments.has("component") && arguments.has("slice"))
    throw UsageError("--slice is for whole tensors, not for a --component");
  const Model model = open(file, read_options(arguments));
  const Tensor& tensor = find_tensor(model, file, arguments.operand(1));
  if (as != "raw") refuse_codes(model, tensor, file, as);
  remark_guesses(model, tensor, session);
  if (const Format* format = find_format(as)) {
    write_as_format(*format, model, dense_part(tensor, arguments), arguments, session);
    return kDone;
  }
  Blob blob;
  if (as == "f32")
    blob = cast(dense_part(tensor, arguments), DType::f32, *parse_overflow(arguments.get("overflow", "error")))
               .components[0]
               .blob;
  else if (arguments.has("slice"))
    blob = dense_part(tensor, arguments).components[0].blob;
  else
    blob = pick_component(tensor, arguments, file).blob;
  OutputTarget target(arguments, session, true);
  copy_blob(blob, target.sink());
  model.check_sources();
  target.commit();
  return kDone;
}

constexpr Operand kOperands[] = {kFile, kTensor};
constexpr Option kOptions[] = {
    {.name = "component", .value = "ROLE", .help = "the component to write, for a tensor that has several"},
    {.name = "slice", .value = "SPEC", .help = "only a part, in NumPy's syntax: '0, :10, ::-1'"},
    {.name = "as",
     .value = "FORM",
     .help = "the bytes as stored (decompressed; the default), decoded as little-endian f32, or a whole file",
     .words = as_words},
    {.name = "overflow",
     .value = "WHAT",
     .help = "with --as f32: what to do with values too large for f32; an error by default",
     .words = overflow_words},
    kOutput,
    {.letter = 'f', .name = "force", .help = "replace an existing PATH; write binary data to a terminal"},
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare cat model.zt embed.weight --slice 0 --as f32 | od -t f4", "the first row, as numbers"},
    {"tare cat model.zt embed.weight --as npy -o embed.npy", "for numpy.load"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "cat",
    .summary = "write a tensor's bytes",
    .description =
        "Writes the bytes of a tensor to standard output: those of its component, decompressed, as the file "
        "stores them. With --as f32 or a file format, sparse and quantized tensors are decoded too. A digest that is "
        "stored with the bytes is compared first. A slice reads only the bytes it needs, and is not compared.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::cat_verb
