# stator_library(NAME SOURCES … DEPS …): the target of one folder under src/, named stator_NAME.
function(stator_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(stator_${name} STATIC ${ARG_SOURCES})
  target_include_directories(stator_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(stator_${name}
    PUBLIC ${ARG_DEPS}
    PRIVATE $<BUILD_INTERFACE:stator_flags> ${ARG_PRIVATE_DEPS})
endfunction()

# stator_test(NAME SOURCES … DEPS …): one test program, run by ctest as one test named NAME.
# TIMEOUT is in seconds; LABELS name the suite it belongs to (default: quick).
function(stator_test name)
  if(NOT STATOR_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)  # of a hang: sanitizers on a busy machine take their time
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} stator_flags GTest::gtest GTest::gmock GTest::gtest_main)
  # What tests wait for is in the libraries. Optimizing the tests costs more than they run; with
  # sanitizers, twice as much again.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
