// The endpoints, one function each; service.cpp has the table. Each writes one JSON object.
#pragma once

#include "base/wide_integers.hpp"
#include "view/service.hpp"

namespace tare::view {

using Endpoint = void (*)(const Context& context, const Query& query, JsonWriter& json);

// overview.cpp
void overview(const Context& context, const Query& query, JsonWriter& json);
// layers.cpp
void layers(const Context& context, const Query& query, JsonWriter& json);
// treemap.cpp
void treemap(const Context& context, const Query& query, JsonWriter& json);
// file_map.cpp
void file_map(const Context& context, const Query& query, JsonWriter& json);
void file_bytes(const Context& context, const Query& query, JsonWriter& json);
// tensors.cpp
void tensors(const Context& context, const Query& query, JsonWriter& json);
void tree(const Context& context, const Query& query, JsonWriter& json);
// tensor.cpp
void tensor(const Context& context, const Query& query, JsonWriter& json);
void block(const Context& context, const Query& query, JsonWriter& json);
void values(const Context& context, const Query& query, JsonWriter& json);
// numbers.cpp
inline constexpr std::uint64_t kNumbersSample = std::uint64_t{1} << 20;  // elements
// What `numbers` answers about a tensor: its elements, or about as many as `sample`.
std::string sampled_numbers(const Tensor& tensor, std::uint64_t sample = kNumbersSample);
void numbers(const Context& context, const Query& query, JsonWriter& json);
void all_numbers(const Context& context, const Query& query, JsonWriter& json);
void stop_numbers(const Context& context, const Query& query, JsonWriter& json);
void report_all_numbers(const Context& context, const Query& query, JsonWriter& json);
JobPtr all_numbers_job(const Context& context, const Query& query);
// Whether a request for numbers is answered by a job that was started already, so that no data is read for it.
bool is_answered_by_job(const Context& context, const Query& query);
// heat.cpp
void heat(const Context& context, const Query& query, JsonWriter& json);
// compare.cpp
void compare(const Context& context, const Query& query, JsonWriter& json);
void start_compare(const Context& context, const Query& query, JsonWriter& json);
void compare_all(const Context& context, const Query& query, JsonWriter& json);
void stop_compare(const Context& context, const Query& query, JsonWriter& json);
// The sample or the comparison of every value: one that is not done, if there is one.
JobPtr compare_job(const Context& context, const Query& query);
// runs.cpp
void run_models(const Context& context, const Query& query, JsonWriter& json);
void start_run(const Context& context, const Query& query, JsonWriter& json);
void stop_run(const Context& context, const Query& query, JsonWriter& json);
JobPtr run_job_of(const Context& context, const Query& query);
// vocabulary.cpp
void tokens(const Context& context, const Query& query, JsonWriter& json);
void chat_template(const Context& context, const Query& query, JsonWriter& json);
// metadata.cpp
void metadata(const Context& context, const Query& query, JsonWriter& json);
void attachments(const Context& context, const Query& query, JsonWriter& json);
void attachment(const Context& context, const Query& query, JsonWriter& json);
// checks.cpp
void check(const Context& context, const Query& query, JsonWriter& json);
void stop_check(const Context& context, const Query& query, JsonWriter& json);
void start_check(const Context& context, const Query& query, JsonWriter& json);
JobPtr check_job(const Context& context, const Query& query);

// The tensor that the parameter "tensor" names: its number in the file if it is all digits, otherwise its name. Throws
// not_found `view.tensor`.
std::size_t tensor_of(const OpenModel& model, const Query& query);
// The same for a given text. `advice`: the remedy in the error if no tensor has this name.
std::size_t tensor_called(const OpenModel& model, std::string_view text, std::string_view advice);
// The tensor to decode. By default it is the model's own; of=left and of=right select the first model's tensor and its
// counterpart as they are compared, and of=error the difference, second minus first.
Tensor subject_of(const Context& context, const Query& query);
// The same for a pair that both models have. `of`: left, right or error.
Tensor side_of(const Pair& pair, std::string_view of);
// The difference, second minus first, in the shape of the first.
Tensor error_of(const Tensor& left, const Tensor& right);

// One row of the list: number, name, shape, ...
void write_item(JsonWriter& json, const OpenModel& model, std::size_t tensor);
// A computed number, or null if it is not finite. It is written with all digits: only the page rounds, so nothing is
// rounded twice.
void write_number(JsonWriter& json, double value);
// The same for numbers that are drawn and not read: six significant digits.
void write_drawn(JsonWriter& json, double value);
// An element of a tensor: the shortest text that reads back as the same f32 or f64; "nan", "inf" and "-inf".
void write_element(JsonWriter& json, double value, bool is_single);
// An integer with all of its digits.
void write_whole(JsonWriter& json, const WideInteger& value);
// {"done":false,"progress":..,"expected":..} for a running job, the result of a finished one, or {"started":false},
// also for one that a user stopped.
// Throws the job's error.
void write_job(JsonWriter& json, const JobPtr& job);

}  // namespace tare::view
