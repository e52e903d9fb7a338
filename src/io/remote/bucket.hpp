// Objects of stores with the interface of Amazon S3: s3://BUCKET/KEY.
//
// Keys are those of other programs: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile AWS_PROFILE of
// ~/.aws/credentials; without any, requests are not signed. The region is AWS_REGION, AWS_DEFAULT_REGION, or that of the profile in
// ~/.aws/config. Another store is named by AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
#pragma once

#include <string>
#include <string_view>

#include "io/remote/credential.hpp"
#include "io/remote/url.hpp"

namespace tare::io::remote {

struct BucketObject {
  Url url;
  Credential credential;
};

bool is_bucket(std::string_view address);
// Throws `remote.url`, and `remote.token` for keys with characters that cannot be sent.
BucketObject find_object(const std::string& address);

// The value of a key in a section of the text of an .aws file; empty if there is none.
std::string value_in(std::string_view text, std::string_view section, std::string_view key);

}  // namespace tare::io::remote
