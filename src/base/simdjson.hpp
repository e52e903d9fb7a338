// simdjson without exceptions: a result that is used before its error was checked does not compile.
//
// simdjson calls its code for this processor through static objects, which are destroyed when the process exits. Other
// threads may still run then: threads of a program that returns from main, or of a Python interpreter that ends. Hold a
// SimdjsonCall around `validate_utf8`, `iterate` and `parse_into_document`: exit waits until they are done, and threads
// that come later sleep until the process is gone.
#pragma once

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

namespace tare {

class SimdjsonCall {
 public:
  SimdjsonCall() noexcept;
  ~SimdjsonCall();
  SimdjsonCall(const SimdjsonCall&) = delete;
  SimdjsonCall& operator=(const SimdjsonCall&) = delete;
};

}  // namespace tare
