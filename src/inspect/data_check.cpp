// The data is split into jobs for all cores: scans of pieces of components, digests of whole components, each codec's
// own rules. Every job writes its results to its own object, and the findings are gathered from there in the order of
// the model, so that the report does not depend on the threads.
#include "inspect/data_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "inspect/pull.hpp"
#include "inspect/scan.hpp"
#include "tare/codec.hpp"

namespace tare::inspect {
namespace {

// Up to this size a component is hashed and scanned in one pass; above it, the scan is divided among the cores, at the
// price of reading the bytes twice.
constexpr std::uint64_t kFuse = std::uint64_t{64} << 20;
// Pieces begin at multiples of this: whole elements of every type.
constexpr std::uint64_t kUnit = 16;

struct Piece {
  std::uint64_t begin = 0, end = 0;
  ScanCounts counts;
  std::vector<Finding> findings;
};

// A component, or an attachment's bytes.
struct Part {
  const Blob* blob = nullptr;
  std::string role;          // empty: there is only one, so it is not named
  std::optional<Kind> kind;  // nothing: not scanned
  DType dtype = DType::u8;
  bool fused = false;  // its only piece is hashed while it is scanned
  std::vector<Piece> pieces;
  std::vector<Finding> stored;  // about the stored bytes as a whole
};

// A tensor or an attachment, which findings are about.
struct Unit {
  std::string item;
  const Tensor* tensor = nullptr;
  const Codec* rules = nullptr;  // the codec whose data rules are checked
  // Check those rules only after the scan has found a byte that is not a boolean.
  bool only_if_not_boolean = false;
  std::vector<Part> parts;
  std::vector<Finding> planned, broken;  // known without the data; from the codec's rules
};

struct Job {
  Unit* unit;
  Part* part = nullptr;    // null: the codec's rules
  Piece* piece = nullptr;  // null: the part's digest and framing
  std::uint64_t cost = 0;
};

Finding about(const Unit& unit, Severity severity, const std::string& rule, std::string sentence) {
  return {severity, ErrorKind::corrupt, rule, std::move(sentence), {}, unit.item, {}, Subject::unsaid, {}};
}

// Runs `work` and turns an exception into a finding.
template <typename Work>
void guarded(const Unit& unit, std::vector<Finding>& out, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    out.push_back(finding_of(Severity::error, error));
    std::string& item = out.back().item;
    if (item.empty() || (unit.tensor != nullptr && item == unit.tensor->name)) item = unit.item;
  } catch (const std::bad_alloc&) {
    out.push_back(about(unit, Severity::error, "verify.memory", "there is not enough memory to check the data"));
    out.back().kind = ErrorKind::limit;
    out.back().subject = Subject::machine;
  }
}

bool has_known_digest(const Blob& blob) {
  return blob.digest() && blob.digest().algorithm() != DigestAlgorithm::unknown;
}

std::uint64_t piece_length(const Blob& blob) {
  try {
    return units_per_piece(blob, kUnit) * kUnit;
  } catch (const Error&) {
    return blob.size();  // the job that reads the blob gets the same error and reports it
  }
}

class DataCheck {
 public:
  DataCheck(const Model& model, Progress* progress) : prefix_(model.format + "."), progress_(progress) {}

  void plan(std::span<const Tensor> tensors, std::span<const Attachment> attachments);

  void run(unsigned threads);
  std::vector<Finding> gather();

 private:
  void plan_tensor(const Tensor& tensor);
  void plan_part(Unit& unit, Part part) const;
  std::vector<Job> jobs();
  void execute(const Job& job) const;
  void scan_piece(const Part& part, Piece& piece) const;
  void check_rules(const Codec& codec, const Unit& unit, std::vector<Finding>& out) const;
  void gather_unit(Unit& unit, std::vector<Finding>& out) const;
  void report_nonfinite(const Unit& unit, std::vector<Finding>& out) const;

  std::string prefix_;
  Progress* progress_;
  std::vector<Unit> units_;
};

void DataCheck::plan(std::span<const Tensor> tensors, std::span<const Attachment> attachments) {
  units_.reserve(tensors.size() + attachments.size());
  for (const Tensor& tensor : tensors) plan_tensor(tensor);
  for (const Attachment& attachment : attachments) {
    Unit& unit = units_.emplace_back();
    unit.item = "attachment " + quote(attachment.name);
    Part part;
    part.blob = &attachment.blob;
    plan_part(unit, std::move(part));
  }
}

void DataCheck::plan_tensor(const Tensor& tensor) {
  Unit& unit = units_.emplace_back();
  unit.item = "tensor " + quote(tensor.name);
  unit.tensor = &tensor;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr) {
    unit.planned.push_back(about(
        unit, Severity::note, prefix_ + "layout.unknown",
        fmt::format("the layout \"{}\" is not one Tare knows; its data rules were not checked", quote(tensor.layout))));
  } else if (const auto problem = codec->check == nullptr ? std::nullopt : codec->check(tensor)) {
    unit.planned.push_back(about(unit, Severity::error, prefix_ + problem->rule, problem->sentence));
  } else if (codec->verify != nullptr) {
    unit.rules = codec;
  }
  for (const Component& component : tensor.components) {
    Part part;
    part.blob = &component.blob;
    if (tensor.components.size() > 1) part.role = quote(component.role);
    part.kind = scan_kind(component.dtype, component.type);
    part.dtype = component.dtype;
    plan_part(unit, std::move(part));
  }
  // Booleans are the only data rule of a dense tensor, and the scan checks them anyway: only if it finds others than 0
  // and 1, the codec reads them again to describe the error.
  unit.only_if_not_boolean =
      tensor.is_dense() && unit.parts.size() == 1 && unit.parts.front().kind == kind_of(DType::boolean);
}

void DataCheck::plan_part(Unit& unit, Part part) const {
  const Blob& blob = *part.blob;
  if (blob.digest() && !has_known_digest(blob)) {
    unit.planned.push_back(
        about(unit, Severity::warning, prefix_ + "digest.unknown",
              fmt::format("the digest \"{}\" is of an algorithm Tare does not know; it was not checked",
                          quote(blob.digest().text()))));
    if (blob.source() != nullptr) unit.planned.back().offset = blob.offset();
  }
  part.fused = blob.is_plain() && has_known_digest(blob) && blob.size() <= kFuse;
  const std::uint64_t length = part.fused ? blob.size() : piece_length(blob);
  std::uint64_t begin = 0;
  do {  // an empty blob has a piece too, so that a stored form that decodes to nothing is decoded
    const std::uint64_t end = begin + std::min(length, blob.size() - begin);
    part.pieces.push_back({begin, end, {}, {}});
    begin = end;
  } while (begin < blob.size());
  unit.parts.push_back(std::move(part));
}

std::vector<Job> DataCheck::jobs() {
  std::vector<Job> jobs;
  for (Unit& unit : units_) {
    for (Part& part : unit.parts) {
      const bool separate = !part.fused && (!part.blob->is_plain() || has_known_digest(*part.blob));
      if (separate) jobs.push_back({&unit, &part, nullptr, part.blob->stored_size()});
      for (Piece& piece : part.pieces) jobs.push_back({&unit, &part, &piece, piece.end - piece.begin});
    }
    if (unit.rules != nullptr && !unit.only_if_not_boolean)
      jobs.push_back({&unit, nullptr, nullptr, unit.tensor->bytes()});
  }
  // Longest first: otherwise the longest could start last, when the other cores are already idle.
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.cost > b.cost; });
  return jobs;
}

void DataCheck::run(unsigned threads) {
  const std::vector<Job> all = jobs();
  parallel_for(all.size(), threads, [&](std::size_t i) { execute(all[i]); });
}

void DataCheck::execute(const Job& job) const {
  Unit& unit = *job.unit;
  if (job.part == nullptr)
    guarded(unit, unit.broken, [&] { check_rules(*unit.rules, unit, unit.broken); });
  else if (job.piece == nullptr)
    guarded(unit, job.part->stored, [&] { job.part->blob->verify(); });
  else
    guarded(unit, job.piece->findings, [&] { scan_piece(*job.part, *job.piece); });
}

void DataCheck::scan_piece(const Part& part, Piece& piece) const {
  const Blob& blob = *part.blob;
  Hasher hasher(part.fused ? blob.digest().algorithm() : DigestAlgorithm::none);
  // A wrong digest is a separate finding, and other problems with the bytes are still found.
  const Blob bytes_alone = blob.unchecked();
  Puller puller(bytes_alone, piece.begin);
  for (std::uint64_t at = piece.begin; at < piece.end;) {
    const auto bytes = puller.next(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, piece.end - at)));
    if (part.fused) hasher.update(bytes);
    if (part.kind) piece.counts.add(scan(*part.kind, bytes));
    if (progress_ != nullptr) progress_->advance(bytes.size());
    at += bytes.size();
  }
  // Reading one more byte makes a decoder finish its frame, including the checksum.
  if (!blob.is_plain() && piece.end < blob.size()) puller.next(1);
  // On a mismatch the blob itself throws the error.
  if (part.fused && !(hasher.finish() == blob.digest())) blob.verify();
}

void DataCheck::check_rules(const Codec& codec, const Unit& unit, std::vector<Finding>& out) const {
  Tensor tensor = *unit.tensor;
  for (Component& component : tensor.components) component.blob = component.blob.unchecked();
  codec.verify(tensor, [&](const Problem& problem) {
    out.push_back(about(unit, problem.severity, prefix_ + problem.rule, problem.sentence));
    out.back().offset = problem.offset;
  });
}

std::vector<Finding> DataCheck::gather() {
  std::vector<Finding> out;
  for (Unit& unit : units_) gather_unit(unit, out);
  return out;
}

void DataCheck::gather_unit(Unit& unit, std::vector<Finding>& out) const {
  const std::size_t first = out.size();
  // A problem that two jobs found at the same place is reported once.
  const auto add = [&](std::vector<Finding>& findings) {
    for (Finding& finding : findings) {
      const bool reported =
          std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), [&](const Finding& f) {
            return f.rule == finding.rule && f.offset == finding.offset &&
                   (f.offset.has_value() || f.sentence == finding.sentence);
          });
      if (!reported) out.push_back(std::move(finding));
    }
  };
  add(unit.planned);
  bool not_boolean = false;
  for (Part& part : unit.parts) {
    std::vector<Finding> found = std::move(part.stored);
    for (Piece& piece : part.pieces) {
      not_boolean = not_boolean || piece.counts.not_boolean > 0;
      if (piece.findings.empty()) continue;
      found.push_back(std::move(piece.findings.front()));  // later pieces fail for the same reason
      break;
    }
    for (Finding& finding : found)
      if (!part.role.empty()) finding.sentence = fmt::format("component \"{}\": {}", part.role, finding.sentence);
    add(found);
  }
  if (not_boolean && unit.only_if_not_boolean && unit.rules != nullptr)
    guarded(unit, unit.broken, [&] { check_rules(*unit.rules, unit, unit.broken); });
  add(unit.broken);
  report_nonfinite(unit, out);
}

void DataCheck::report_nonfinite(const Unit& unit, std::vector<Finding>& out) const {
  ScanCounts all;
  std::uint64_t values = 0;
  std::optional<std::uint64_t> offset;
  for (const Part& part : unit.parts) {
    if (!part.kind || part.kind == kind_of(DType::boolean)) continue;
    ScanCounts here;
    for (const Piece& piece : part.pieces) here.add(piece.counts);
    values += part.blob->size() / size_of(part.dtype);
    if (!offset && here.nan + here.inf > 0 && part.blob->source() != nullptr) offset = part.blob->offset();
    all.add(here);
  }
  if (all.nan + all.inf == 0) return;
  out.push_back(about(unit, Severity::warning, prefix_ + "data.nonfinite",
                      fmt::format("{}{}{} among {} values", all.nan > 0 ? count_text(all.nan) + " NaN" : "",
                                  all.nan > 0 && all.inf > 0 ? " and " : "",
                                  all.inf > 0 ? count_text(all.inf) + " infinite" : "", count_text(values))));
  out.back().offset = offset;
}

}  // namespace

Finding finding_of(Severity severity, const Error& error) {
  return {severity,     error.kind(),   error.rule(),    error.sentence(), error.file(),
          error.item(), error.offset(), error.subject(), error.remedies()};
}

std::vector<Finding> check_data(const Model& model, unsigned threads, Progress* progress) {
  // A planned unit takes more memory than its tensor: plan a few thousand at a time.
  constexpr std::size_t kBatch = std::size_t{1} << 14;
  std::vector<Finding> all;
  std::span<const Tensor> tensors = model.tensors;
  std::span<const Attachment> attachments = model.attachments;
  do {
    const auto some = tensors.first(std::min(kBatch, tensors.size()));
    const auto others = attachments.first(some.size() == tensors.size() ? std::min(kBatch, attachments.size()) : 0);
    DataCheck check(model, progress);
    check.plan(some, others);
    check.run(threads);
    std::vector<Finding> found = check.gather();
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    tensors = tensors.subspan(some.size());
    attachments = attachments.subspan(others.size());
  } while (!tensors.empty() || !attachments.empty());
  return all;
}

}  // namespace tare::inspect
