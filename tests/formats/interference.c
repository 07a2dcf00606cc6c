// SPDX-License-Identifier: Apache-2.0
// Preloaded into a server by make_directory.py. Moves its clock by MOVED_SECONDS, and fails renames
// to paths that contain one of the texts in FAILED_RENAMES, separated by colons. If KILLED_AFTER is
// set, kills the process once a write of that text is durable.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int seen;

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*next)(clockid_t, struct timespec*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = next(clock, now);
  const char* seconds = getenv("MOVED_SECONDS");
  if (clock == CLOCK_REALTIME && seconds != NULL) now->tv_sec += atol(seconds);
  return result;
}

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "rename");
  char texts[256] = "";
  const char* given = getenv("FAILED_RENAMES");
  if (given != NULL) strncpy(texts, given, sizeof(texts) - 1);
  char* rest = texts;
  for (const char* text; (text = strsep(&rest, ":")) != NULL;) {
    if (*text == '\0' || strstr(to, text) == NULL) continue;
    errno = EIO;
    return -1;
  }
  return next(from, to);
}

ssize_t write(int file, const void* bytes, size_t size) {
  static ssize_t (*next)(int, const void*, size_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "write");
  const char* text = getenv("KILLED_AFTER");
  if (text != NULL && memmem(bytes, size, text, strlen(text)) != NULL) seen = 1;
  return next(file, bytes, size);
}

int fdatasync(int file) {
  static int (*next)(int);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "fdatasync");
  const int result = next(file);
  if (seen) kill(getpid(), SIGKILL);
  return result;
}
