// Requests to the server of `tare view`: lines with the method, Host, Origin and Sec-Fetch-Site, then the target. Every
// endpoint that only reads answers the accepted requests; answers are JSON and bounded.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "view/access_control.hpp"
#include "view/service.hpp"
#include "wire/json.hpp"

namespace {

tare::view::OpenModelPtr model(float scale) {
  using namespace tare;
  Model made;
  std::vector<float> values(32 * 48);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i % 97);
  made.tensors.push_back(dense("layers.0.<b>.weight", {32, 48}, values));
  made.tensors.push_back(cast(dense("layers.1.attn.weight", {32, 48}, values), DType::f16));
  for (const char* const method : {"q4_k", "qint4", "group4", "k4"}) {
    std::vector<float> rows(4 * 256);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = scale * static_cast<float>(i % 89) - 40;
    made.tensors.push_back(
        find_codec_by_method(method)->encode(dense(method, {4, 256}, rows), {.method = std::string(method)}));
  }
  made.tensors.push_back(dense("empty", {0, 3}, std::vector<float>{}));
  made.tensors.push_back(dense("scalar", {}, std::vector<float>{1}));
  made.metadata.set("a", Value(List{Value(1), Value("two")}));
  made.vocabulary.tokens = {{"a", 0, TokenType::normal}, {"\xFF", 0, TokenType::byte}};
  made.attachments.push_back({"x", Blob::memory(Bytes(5))});
  return std::make_shared<const view::OpenModel>("model", std::move(made));
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text = text.substr(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  static view::Service kService({model(1), model(1.01F)});
  // The comparison runs first, so that its table rows can be requested.
  static const std::string kCompared = kService.call_and_wait("compare/all");
  static const view::AccessControl kAccess("token", {"127.0.0.1:1"});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  view::Head head;
  head.method = take_line(text);
  if (const auto host = take_line(text); !host.empty()) head.hosts = {host};
  if (const auto origin = take_line(text); !origin.empty()) head.origins = {origin};
  head.site = take_line(text);
  head.target = text;
  if (kCompared.empty()) std::abort();
  for (const std::string_view host : head.hosts) {
    try {
      if (view::spelled_host(host, 8080).empty()) std::abort();
    } catch (const Error&) {  // not a valid host
    }
  }
  view::Admission admission;
  if (!kAccess.refuse(head, admission) && (head.hosts.size() != 1 || !head.target.starts_with("/token/"))) std::abort();
  // Also answers targets that would have been refused.
  const std::string_view target = admission.target.empty() ? text : admission.target;
  static_cast<void>(kService.reads_data(target));
  const view::Answer answer = kService.answer(target);
  if (answer.body.size() > view::kMostAnswer || answer.status >= 500) std::abort();
  wire::TreeBounds bounds;
  static_cast<void>(wire::read_json(answer.body, bounds));
  return 0;
}
