include(GoogleTest)

add_library(corelane_flags INTERFACE)
# A designated initialiser that leaves the other members at their defaults is how values are built here.
target_compile_options(corelane_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<BOOL:${CORELANE_WERROR}>:-Werror>)
target_include_directories(corelane_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")
if(CORELANE_SANITIZE)
  target_compile_options(corelane_flags INTERFACE -fsanitize=${CORELANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(corelane_flags INTERFACE -fsanitize=${CORELANE_SANITIZE})
endif()

# corelane_layer(NAME [USES layer...] [LINKS target...] [TEST_LINKS target...])
#
# One folder of src/ as a static library corelane_NAME, and its *_test.cc files as one test program.
# A main.cc is left out: it belongs to a program of the folder's own CMakeLists.txt.
# USES is the row of allowed includes (with all that those layers may use); tools/lint reads it from here.
function(corelane_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LINKS;TEST_LINKS")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc" "${CMAKE_CURRENT_SOURCE_DIR}/testing/*.cc")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(uses ${arg_USES})
  list(TRANSFORM uses PREPEND "corelane_")
  if(sources)
    add_library(corelane_${name} STATIC ${sources})
    target_link_libraries(corelane_${name} PUBLIC corelane_flags Threads::Threads ${uses} ${arg_LINKS})
  else()
    add_library(corelane_${name} INTERFACE)
    target_link_libraries(corelane_${name} INTERFACE corelane_flags Threads::Threads ${uses} ${arg_LINKS})
  endif()
  if(tests AND BUILD_TESTING)
    add_executable(corelane_${name}_test ${tests})
    target_link_libraries(corelane_${name}_test PRIVATE corelane_${name} ${arg_TEST_LINKS} GTest::gmock GTest::gtest_main)
    gtest_discover_tests(corelane_${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
