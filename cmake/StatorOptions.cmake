# Compiler settings shared by every target, and the switches that the presets set.

option(STATOR_TESTS "Build the tests and examples" ON)
option(STATOR_STATIC_ROCKSDB "Link RocksDB into the programs, which start sooner and stay smaller" OFF)
option(STATOR_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(STATOR_ALL_TESTS "With a sanitizer, also build the tests that only `make soak` runs with it" OFF)
set(STATOR_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths below the source tree do not matter, so that another clone finds the same objects.
  # The sloppiness is what precompiled headers need to be cached.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# Faster than the default linker, and there are many test programs. Presets for use do without: the
# default linker keeps the code that runs at startup together.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(stator_flags INTERFACE)
target_compile_options(stator_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers)  # designated initializers leave members out on purpose
# Only with the compilers of CI: another version warns about other things.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.") OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^19\\."))
  target_compile_options(stator_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # When it optimises, GCC 12 reports false overlaps in std::string (its bug 105651) and values
  # within std::expected and std::optional that may be uninitialized.
  target_compile_options(stator_flags INTERFACE
    "$<$<CONFIG:Release>:-Wno-restrict;-Wno-maybe-uninitialized>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects its garbage from 512 MB on only, which saves a tenth of the time.
  add_compile_options($<$<CONFIG:Debug>:--param=ggc-min-heapsize=524288>)
endif()
if(STATOR_SANITIZE)
  add_compile_options(-fsanitize=${STATOR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STATOR_SANITIZE})
  if(STATOR_SANITIZE MATCHES "undefined")
    # A null pointer that is used ends the program anyway, and AddressSanitizer knows the objects'
    # sizes better. The three checks take 10 to 30 % of the time to compile.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # AddressSanitizer calls its checks, as copies of them take 15 % of the time to compile.
    add_compile_options("SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
    set(STATOR_INLINE_CHECKS "SHELL:-mllvm -asan-instrumentation-with-call-threshold=1000000")
  else()
    # The same. Alignment and overflow of pointers would take another third; the fuzzers, which Clang
    # compiles, check them.
    add_compile_options(--param=asan-instrumentation-with-call-threshold=0
      -fno-sanitize=alignment,pointer-overflow)
    set(STATOR_INLINE_CHECKS --param=asan-instrumentation-with-call-threshold=1000000)
    # Under sanitizers GCC 12 reports false maybe-uninitialized and fence warnings in the library.
    target_compile_options(stator_flags INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()
if(STATOR_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
