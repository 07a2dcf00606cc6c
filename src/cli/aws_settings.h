// SPDX-License-Identifier: Apache-2.0
// The AWS CLI's settings that apply to DynamoDB: endpoint, region, credentials and CA certificates,
// from the environment and from the shared config and credentials files.
//
// Variables have precedence, then the profile (AWS_PROFILE, "default") in the credentials file,
// then the one in the config file. Programs and services that issue keys (`credential_process`,
// `role_arn`, `sso_session`, …) are not called.
// https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
#pragma once

#include <functional>
#include <string>

#include "stator/http_client.h"
#include "stator/result.h"

namespace stator::cli {

struct AwsSettings {  // empty: not set
  std::string endpoint;
  std::string region;
  std::string ca_bundle;
  Credentials credentials = {};
  std::string credentials_problem = {};  // why the profile's source of credentials cannot be used
};

// The value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

// `environment` without its variables for credentials and region, so that those of `profile` apply.
Environment with_profile(Environment environment, std::string profile);

// Errors: kInvalidArgument for a malformed file and for a profile that does not exist; kIo.
// Messages name the file.
Result<AwsSettings> read_aws_settings(const Environment& environment);

// Reads the environment of this process.
std::string environment_variable(const char* name);

}  // namespace stator::cli
