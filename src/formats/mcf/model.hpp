// Names that the two directions of model_read.cpp and model_write.cpp share: metadata keys that stand for
// fields of the file, and keys of ModelInfo that are ours.
#pragma once

#include <string_view>

#include "formats/mcf/mcf.hpp"
#include "resources/resources.hpp"

namespace tare::mcf {

// ModelInfo keys for what MCF has no place of its own for. Those that end in a point go on with a name.
inline constexpr std::string_view kPrivatePrefix = "tare.";
inline constexpr std::string_view kTypeKey = "tare.type.";              // tensor: the logical type
inline constexpr std::string_view kAttributesKey = "tare.attributes.";  // tensor: its attributes, as JSON
inline constexpr std::string_view kAttachmentKey = "tare.attachment.";  // the attachment's bytes
inline constexpr std::string_view kOriginalKey = "tare.original.";      // a file whose section holds more than it
inline constexpr std::string_view kMetadataKey = "tare.metadata";       // JSON: metadata that is no u32, f32 or string
inline constexpr std::string_view kConfigKey = "tare.config";           // JSON: fields that ModelInfo does not tell
inline constexpr std::string_view kVocabularyKey = "tare.vocabulary";   // JSON: one that no tokenizer file tells
inline constexpr std::string_view kMadeKey = "tare.made";  // JSON: files that Tare made, with their digests

// Metadata keys for fields of the file. The names have a second key for files whose pairs use the first one.
inline constexpr std::string_view kNameKey = "general.name", kNameKey2 = "mcf.model_name";
inline constexpr std::string_view kBaseKey = "base_model", kBaseKey2 = "mcf.base_model";
inline constexpr std::string_view kArchKey = "mcf.arch";
inline constexpr std::string_view kTrainContextKey = "mcf.train_context";
inline constexpr std::string_view kRopeTypeKey = "mcf.rope_type", kRopeScaleKey = "mcf.rope_scale";
inline constexpr std::string_view kMinorKey = "mcf.minor", kFlagsKey = "mcf.flags", kHeaderKey = "mcf.header";

inline constexpr std::string_view kRopeTypes[] = {"none", "standard", "linear", "yarn"};

// An unknown section is the attachment "mcf.section.TYPE.VERSION", TYPE in eight hexadecimal digits.
std::string section_name(const Section& section);
std::optional<Section> parse_section_name(std::string_view name);

// ModelInfo names architectures 1 to this.
inline constexpr std::uint32_t kLastArch = 6;
// The number that ModelInfo has for a model type; 0 when it has none.
std::uint32_t arch_of(std::string_view model_type);

// Architecture, training context and rope: fields that follow from the rest, so that the file's own value is metadata
// only where it differs. `scaling` is that of config.json; a kind that ModelInfo has no number for leaves the rope type
// standard, and `remarks` tells.
InfoFields usual_fields(const Config& config, const resources::RopeScaling& scaling);
// Those and the numbers of the config. Throws mcf.write.limit for one that does not fit.
InfoFields fields_of(const Config& config, const resources::RopeScaling& scaling);

// Programs look for the chat template in tokenizer_config.json; directories have it in a file of its own now.
inline constexpr std::string_view kTemplateFile = "chat_template.jinja", kTokenizerConfig = "tokenizer_config.json";
// tokenizer_config.json with the template in it, in place of one that it has. Nothing when it says so already, is not JSON
// object, or the template is not UTF-8.
std::optional<std::string> with_chat_template(std::string_view tokenizer_config, std::string_view chat_template);
// The section that a model with a chat_template.jinja gets for its tokenizer_config.json (be there one or not). Nothing
// when that is the file as it is, or there is none.
std::optional<std::string> merged_tokenizer_config(const Model& model);

// As `tare.made` has it; of files that are short enough to be read.
std::optional<std::string> digest_text(const Attachment& file);

// Fills what is still empty of the model's config and vocabulary from the fixed fields and the attachments.
void complete_from(const InfoFields& fields, Model& model, Diagnostics& diagnostics);

}  // namespace tare::mcf
