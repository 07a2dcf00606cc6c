# What tests wait for is in the libraries. Optimizing the tests costs more than they run; with
# sanitizers, twice as much again. Checks for undefined behaviour in the tests' own code cost a third
# of their compile time and find nothing in Stator.
set(STATOR_TEST_OPTIONS $<$<CONFIG:Debug>:-O0>)
if(STATOR_SANITIZE MATCHES "undefined")
  list(APPEND STATOR_TEST_OPTIONS -fno-sanitize=undefined)
endif()

# GoogleTest's headers cost a test file a second or two. A target without sources precompiles them for
# all; -fpch-preprocess is for ccache. Not where tests are optimized: GCC 12 then warns of what it
# inlines from precompiled headers.
function(stator_test_headers)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "")
  add_library(stator_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cc)
  target_link_libraries(stator_test_headers PRIVATE stator_flags GTest::gmock)
  target_compile_options(stator_test_headers PRIVATE ${STATOR_TEST_OPTIONS} -fpch-preprocess)
  target_precompile_headers(stator_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endfunction()

# stator_group(VARIABLE NAME SIZE SOURCE…): sets VARIABLE to files that include SIZE sources each, so
# that headers are read less often. The files that CMake would write (UNITY_BUILD) contain the path of
# the clone, and ccache would find nothing in another one.
function(stator_group variable name size)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
  set(files "")
  while(ARGN)
    list(LENGTH files number)
    list(SUBLIST ARGN 0 ${size} group)
    list(REMOVE_ITEM ARGN ${group})
    list(JOIN group "" content)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/groups/${name}_${number}.cc)
    file(GENERATE OUTPUT ${file} CONTENT "${content}")
    list(APPEND files ${file})
  endwhile()
  set_source_files_properties(${files} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# stator_library(NAME SOURCES … DEPS …): the target of one folder under src/, named stator_NAME.
# Its sources are compiled several at a time to read headers less often, so file-local names are
# unique within a folder. SEPARATE ones stay alone. WAITS: the code mostly waits for other code, the
# network, the disk or a person. Releases optimize it less, which takes a third less time.
function(stator_library name)
  cmake_parse_arguments(ARG "WAITS" "" "SOURCES;SEPARATE;DEPS;PRIVATE_DEPS" ${ARGN})
  stator_group(groups ${name} 8 ${ARG_SOURCES})
  add_library(stator_${name} STATIC ${groups} ${ARG_SEPARATE})
  target_include_directories(stator_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(stator_${name}
    PUBLIC ${ARG_DEPS}
    PRIVATE $<BUILD_INTERFACE:stator_flags> ${ARG_PRIVATE_DEPS})
  if(ARG_WAITS)
    target_compile_options(stator_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# stator_computes(TARGET): it computes much. Checks of sanitizers that are calls would make its tests
# take several times as long, so each check is a copy, and the code is optimized.
function(stator_computes target)
  if(STATOR_SANITIZE)
    target_compile_options(${target} PRIVATE -O2 ${STATOR_INLINE_CHECKS})
  endif()
endfunction()

# stator_skip_unless_run(TARGET LABEL…): a program of tests with these labels is not built by default
# if the preset of the sanitizer leaves such tests to `make soak`, which sets STATOR_ALL_TESTS.
function(stator_skip_unless_run target)
  if(NOT STATOR_SANITIZE OR STATOR_ALL_TESTS)
    return()
  endif()
  if(NOT "quick" IN_LIST ARGN OR
     (STATOR_SANITIZE STREQUAL "thread" AND ("processes" IN_LIST ARGN OR "exhaustive" IN_LIST ARGN)) OR
     (STATOR_SANITIZE MATCHES "address" AND "soak" IN_LIST ARGN))
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# stator_test(NAME SOURCES … DEPS …): one test program, run by ctest as one test named NAME. Its
# sources are compiled several at a time as well.
# TIMEOUT is in seconds; LABELS name the suite it belongs to (default: quick). One that is
# SINGLE_THREADED is left out under TSan, which has nothing to find there. PROCESSES: it starts many
# programs of Stator, each of which takes long to start under TSan. EXHAUSTIVE: it repeats a sequence
# for each point at which it can fail. Under TSan, both run in `make soak` only, as do such tests
# within other programs (CMakePresets.json). SOAK: it takes long under ASan, which seldom finds
# anything in it, so that under ASan it runs in `make soak` only. Those of more COST start first, so that a long
# one does not run alone in the end; it is about its seconds.
# `make test` builds and runs the quick tests only, which the target quick_tests builds. It leaves out
# the label `check`: PROCESSES, EXHAUSTIVE, and those with CHECK, such as simulations, random
# histories, and tests of the command line, which together would take another four minutes.
function(stator_test name)
  cmake_parse_arguments(ARG "SINGLE_THREADED;PROCESSES;EXHAUSTIVE;SOAK;CHECK" "TIMEOUT;COST" "SOURCES;DEPS;LABELS;ARGS" ${ARGN})
  if(NOT STATOR_TESTS OR (ARG_SINGLE_THREADED AND STATOR_SANITIZE STREQUAL "thread"))
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1500)  # of many slow tests: sanitizers on a busy machine take their time
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  if(ARG_PROCESSES)
    list(APPEND ARG_LABELS processes)
  endif()
  if(ARG_EXHAUSTIVE)
    list(APPEND ARG_LABELS exhaustive)
  endif()
  if(ARG_SOAK)
    list(APPEND ARG_LABELS soak)
  endif()
  stator_group(groups ${name} 4 ${ARG_SOURCES})
  add_executable(${name} ${groups})
  if("quick" IN_LIST ARG_LABELS AND (ARG_PROCESSES OR ARG_EXHAUSTIVE OR ARG_CHECK))
    list(APPEND ARG_LABELS check)
  elseif("quick" IN_LIST ARG_LABELS)
    add_dependencies(quick_tests ${name})
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} stator_test_main stator_test_paths stator_flags GTest::gmock)
  target_compile_options(${name} PRIVATE ${STATOR_TEST_OPTIONS})
  if(TARGET stator_test_headers)
    target_compile_options(${name} PRIVATE -fpch-preprocess)
    target_precompile_headers(${name} REUSE_FROM stator_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  stator_skip_unless_run(${name} ${ARG_LABELS})
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()

# Runs a test program whose suites run on each backend (tests/support/homes.h) on PostgreSQL too.
# The label postgres marks the tests on PostgreSQL, which `make soak` repeats with another version.
# stator_test_on_postgres(NAME [ARGUMENT…])
function(stator_test_on_postgres name)
  if(TARGET ${name})
    add_test(NAME ${name}_on_postgres COMMAND ${name} ${ARGN})
    set_tests_properties(${name}_on_postgres PROPERTIES
      LABELS "system;postgres" COST 40 TIMEOUT 900 ENVIRONMENT STATOR_TEST_HOMES=postgres)
  endif()
endfunction()
