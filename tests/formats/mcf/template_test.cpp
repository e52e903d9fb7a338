// What programs that run MCF files need from them: the chat template and the tokenizer.
#include "conformance/models.hpp"
#include "formats/mcf/model.hpp"
#include "lines.hpp"
#include "resources/piece_bytes.hpp"
#include "tare/convert.hpp"
#include "tare/formats/mcf.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model model_with(std::vector<Attachment> files) {
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  model.attachments = std::move(files);
  return model;
}

// The bytes of a section, as an independent program finds them.
std::string section_of(const Bytes& bytes, mcf::SectionType type) {
  for (const mcf::Section& section : mcf::sections(*memory_source(bytes)))
    if (section.type == type)
      return to_text(bytes).substr(static_cast<std::size_t>(section.offset), static_cast<std::size_t>(section.size));
  return "not there";
}

std::string text_of(const Model& model, std::string_view name) {
  const Attachment* const found = model.attachment(name);
  return found == nullptr ? "not there" : to_text(found->blob.bytes());
}

Map parsed(std::string_view text) {
  wire::TreeBounds bounds;
  return *wire::read_json(text, bounds).get<Map>();
}

const std::string kTemplate = "{% for m in messages %}\n\"{{ m }}\" \xC3\xA4{% endfor %}\n";

TEST(McfTemplate, IsInTheTokenizersConfigAndTheFilesComeBack) {
  for (const std::string config :
       {R"({"a": 1e30, "b": [1, 2]})", "{\n  \"model_max_length\": 1000000000000000019884624838656\n}\n", "{}",
        R"({"chat_template": "an older one", "z": 0})",
        R"({"chat_template": [{"name": "default", "template": "x"}]})"}) {
    SCOPED_TRACE(config);
    const Model model =
        model_with({text_file("tokenizer_config.json", config), text_file("chat_template.jinja", kTemplate)});
    const Bytes bytes = write_bytes(*find_format("mcf"), model);
    Map expected = parsed(config);
    expected.set("chat_template", kTemplate);
    EXPECT_EQ(parsed(section_of(bytes, mcf::SectionType::tokenizer_config)), expected)
        << "everything else is as it was";

    const Model back = open(memory_source(bytes));
    EXPECT_EQ(text_of(back, "tokenizer_config.json"), config);
    EXPECT_EQ(text_of(back, "chat_template.jinja"), kTemplate);
    EXPECT_EQ(back.attachments.size(), 2U);
    EXPECT_TRUE(back.metadata.empty());
    EXPECT_TRUE(write_bytes(*find_format("mcf"), back) == bytes);
    const Scratch scratch;
    put_file(scratch / "f.mcf", bytes);
    EXPECT_TRUE(verify(scratch / "f.mcf").ok(true));
  }
}

// A different template is replaced: the order of keys stays, numbers are unchanged, the last of equal keys counts.
TEST(McfTemplate, ReplacesAnOlderOne) {
  EXPECT_EQ(mcf::with_chat_template(R"({"z": [1, {}], "chat_template": "old", "big": 1000000000000000019884624838656,
                                        "a": 1, "chat_template": "older", "\u00e4": -0.0})",
                                    "x\n"),
            "{\n  \"z\": [\n    1,\n    {}\n  ],\n  \"chat_template\": \"x\\n\",\n  \"big\": 1e+30,\n  \"a\": 1,\n  "
            "\"\xC3\xA4\": -0.0\n}");
  // NaN cannot be written again, but a template can be added.
  EXPECT_EQ(mcf::with_chat_template(R"({"chat_template": 1, "n": NaN})", "x"), std::nullopt);
  EXPECT_EQ(mcf::with_chat_template(R"({"n": NaN})", "x"), "{\"n\": NaN,\n  \"chat_template\": \"x\"\n}");
}

TEST(McfTemplate, GetsASectionWhereThereIsNoFile) {
  const Bytes bytes = write_bytes(*find_format("mcf"), model_with({text_file("chat_template.jinja", kTemplate)}));
  Map expected;
  expected.append("chat_template", kTemplate);
  EXPECT_EQ(parsed(section_of(bytes, mcf::SectionType::tokenizer_config)), expected);
  const Model back = open(memory_source(bytes));
  EXPECT_EQ(text_of(back, "tokenizer_config.json"), "not there");
  EXPECT_EQ(text_of(back, "chat_template.jinja"), kTemplate);
}

TEST(McfTemplate, IsNotPutIntoWhatCannotHoldIt) {
  const auto section = [](std::string_view config, std::string_view chat_template) {
    return section_of(write_bytes(*find_format("mcf"), model_with({text_file("tokenizer_config.json", config),
                                                                   text_file("chat_template.jinja", chat_template)})),
                      mcf::SectionType::tokenizer_config);
  };
  EXPECT_EQ(section("<html>", kTemplate), "<html>");
  EXPECT_EQ(section("[]", kTemplate), "[]");
  EXPECT_EQ(section("{}", "\xFF"), "{}");
  const std::string said = R"({"chat_template": "x"})";
  EXPECT_EQ(section(said, "x"), said);
}

// If another program has replaced the section, its content counts.
TEST(McfTemplate, AChangedSectionIsReadAsItIs) {
  const Model model =
      model_with({text_file("tokenizer_config.json", R"({"a": 1})"), text_file("chat_template.jinja", "abc")});
  std::string bytes = to_text(write_bytes(*find_format("mcf"), model));
  const std::size_t at = bytes.find("\"chat_template\": \"abc\"");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 22, "\"chat_template\": \"xyz\"");
  const Model back = open(memory_source(to_bytes(bytes)));
  EXPECT_NE(text_of(back, "tokenizer_config.json").find("xyz"), std::string::npos);
  EXPECT_EQ(text_of(back, "chat_template.jinja"), "abc");
}

TEST(McfTemplate, ConvertSaysSo) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "dir");
  put_file(scratch / "dir/model.safetensors", write_bytes(*find_format("safetensors"), model_with({})));
  put_file(scratch / "dir/tokenizer_config.json", to_bytes("{}"));
  put_file(scratch / "dir/chat_template.jinja", to_bytes(kTemplate));
  const Conversion done = convert(scratch / "dir", scratch / "m.mcf");
  EXPECT_TRUE(mentions(done.changes, "chat_template.jinja is in the section of tokenizer_config.json"));
  const Map json = parsed(section_of(get_file(scratch / "m.mcf"), mcf::SectionType::tokenizer_config));
  EXPECT_EQ(*json.find("chat_template"), Value(kTemplate));
}

// ---- the tokenizer

TEST(McfTokenizer, OfAModelWithNothingButPiecesIsMadeIntoAFile) {
  const std::string pieces =
      proto_piece("<unk>", 0, 2) + proto_piece("<s>", 0, 3) + proto_piece("</s>", 0, 3) + proto_piece("ab", -1.5F, 1);
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "dir");
  put_file(scratch / "dir/model.safetensors", write_bytes(*find_format("safetensors"), model_with({})));
  put_file(scratch / "dir/tokenizer.model", to_bytes(pieces));
  convert(scratch / "dir", scratch / "m.mcf");
  const Map json = parsed(section_of(get_file(scratch / "m.mcf"), mcf::SectionType::tokenizer));
  const List& vocab = *json.find("model")->get<Map>()->find("vocab")->get<List>();
  EXPECT_EQ(vocab.at(3), Value(List{"ab", -1.5}));
  const Model model = open(scratch / "m.mcf");
  EXPECT_EQ(text_of(model, "tokenizer.model"), pieces);
  EXPECT_EQ(model.vocabulary.tokens.size(), 4U);
  EXPECT_TRUE(verify(scratch / "m.mcf").ok(true));
  // An existing one is not changed.
  put_file(scratch / "dir/tokenizer.json", to_bytes(R"({"model":{"type":"WordLevel","vocab":{"a":0}}})"));
  convert(scratch / "dir", scratch / "n.mcf");
  EXPECT_EQ(section_of(get_file(scratch / "n.mcf"), mcf::SectionType::tokenizer),
            R"({"model":{"type":"WordLevel","vocab":{"a":0}}})");
}

}  // namespace
}  // namespace tare
