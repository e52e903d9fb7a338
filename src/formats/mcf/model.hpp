// Names shared by model_read.cpp and model_write.cpp: metadata keys for fields of the file, and private keys in
// ModelInfo.
#pragma once

#include <string_view>

#include "formats/mcf/mcf.hpp"
#include "resources/resources.hpp"

namespace tare::mcf {

// ModelInfo keys for what MCF has no field for. Those that end in a dot are followed by a name.
inline constexpr std::string_view kPrivatePrefix = "tare.";
inline constexpr std::string_view kTypeKey = "tare.type.";              // tensor: the logical type
inline constexpr std::string_view kAttributesKey = "tare.attributes.";  // tensor: its attributes, as JSON
inline constexpr std::string_view kAttachmentKey = "tare.attachment.";  // the attachment's bytes
inline constexpr std::string_view kOriginalKey = "tare.original.";      // a file whose section holds more than the file
// JSON: metadata that is not a u32, f32 or string
inline constexpr std::string_view kMetadataKey = "tare.metadata";
inline constexpr std::string_view kConfigKey = "tare.config";  // JSON: fields that ModelInfo does not have
// JSON: a vocabulary that is in no tokenizer file
inline constexpr std::string_view kVocabularyKey = "tare.vocabulary";
inline constexpr std::string_view kMadeKey = "tare.made";  // JSON: files that Tare made, with their digests

// Metadata keys for fields of the file. The two names have a second key, for files that use the first one for a pair.
inline constexpr std::string_view kNameKey = "general.name", kNameKey2 = "mcf.model_name";
inline constexpr std::string_view kBaseKey = "base_model", kBaseKey2 = "mcf.base_model";
inline constexpr std::string_view kArchKey = "mcf.arch";
inline constexpr std::string_view kTrainContextKey = "mcf.train_context";
inline constexpr std::string_view kRopeTypeKey = "mcf.rope_type", kRopeScaleKey = "mcf.rope_scale";
inline constexpr std::string_view kMinorKey = "mcf.minor", kFlagsKey = "mcf.flags", kHeaderKey = "mcf.header";

inline constexpr std::string_view kRopeTypes[] = {"none", "standard", "linear", "yarn"};

// An unknown section is the attachment "mcf.section.TYPE.VERSION", with TYPE in eight hexadecimal digits.
std::string section_name(const Section& section);
std::optional<Section> parse_section_name(std::string_view name);

// ModelInfo defines architectures 1 to this number.
inline constexpr std::uint32_t kLastArch = 6;
// Returns ModelInfo's number for a model type; 0 if it has none.
std::uint32_t arch_of(std::string_view model_type);

// Architecture, training context and rope: fields that follow from the config, so a file's value becomes metadata only
// if it differs. `scaling` is that of config.json; for a kind that ModelInfo has no number for, the rope type is
// standard, and `remarks` reports it.
InfoFields usual_fields(const Config& config, const resources::RopeScaling& scaling);
// Returns those fields and the numbers of the config. Throws mcf.write.limit for a number that does not fit.
InfoFields fields_of(const Config& config, const resources::RopeScaling& scaling);

// Programs look for the chat template in tokenizer_config.json, but newer directories have it in a file of its own.
inline constexpr std::string_view kTemplateFile = "chat_template.jinja", kTokenizerConfig = "tokenizer_config.json";
// Returns tokenizer_config.json with this chat template, which replaces its own. Returns nothing if it has the same
// template already, is not a JSON object, or the template is not UTF-8.
std::optional<std::string> with_chat_template(std::string_view tokenizer_config, std::string_view chat_template);
// Returns the tokenizer_config.json section for a model with a chat_template.jinja (with or without a
// tokenizer_config.json). Returns nothing if the file needs no change, or there is no template.
std::optional<std::string> merged_tokenizer_config(const Model& model);

// Returns a file's digest in the form of `tare.made`; nothing if the file is too long to be read.
std::optional<std::string> digest_text(const Attachment& file);

// Fills fields of the config and the vocabulary that are still empty, from the fixed fields and the attachments.
void complete_from(const InfoFields& fields, Model& model, Diagnostics& diagnostics);

}  // namespace tare::mcf
