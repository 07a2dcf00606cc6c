// SPDX-License-Identifier: Apache-2.0
// libcurl, loaded when a process creates its first HttpClient. It depends on thirty libraries,
// which a server or a program that only uses Database does not need (docs/decisions/0007).
#pragma once

#include <curl/curl.h>

#include "stator/result.h"

namespace stator {

// libcurl's functions, each under its name without "curl_".
struct CurlLibrary {
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_free) free;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
};

// Loads and initializes libcurl once. Thread safety: any thread. Errors: kIo if it is not
// installed.
Result<void> load_curl();
// Call only after load_curl() has succeeded.
const CurlLibrary& curl();

}  // namespace stator
