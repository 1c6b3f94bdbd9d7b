# libs/<name>/tests/fuzz/<target>_fuzz.cpp is the program <name>_<target>_fuzz and, with clang++, the test
# <name>.fuzz.<target>: libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer begins with the files of
# tests/fuzz/corpus/<target>/ and goes on for MILLRACE_FUZZ_SECONDS. What tests/fuzz/sources.txt lists (patterns below
# libs/<name>) is compiled once more, so that the fuzzer sees its branches.

set(MILLRACE_FUZZ_SECONDS 2 CACHE STRING "Seconds that one fuzz target runs as a test; CI gives each a minute")

function(millrace_fuzz_sources result root)
  file(STRINGS "${root}/tests/fuzz/sources.txt" patterns)
  list(TRANSFORM patterns PREPEND "${root}/")
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(millrace_fuzz_options target)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  millrace_set_warnings(${target})
endfunction()

function(millrace_add_fuzz_target library root name source)
  set(target ${library}_${name}_fuzz)
  add_executable(${target} ${source} $<TARGET_OBJECTS:${library}_fuzz_sources>)
  target_link_libraries(${target} PRIVATE ${ARGN})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_include_directories(${target} PRIVATE "${root}/src" "${root}/tests")
  millrace_fuzz_options(${target})
  set(found "${PROJECT_BINARY_DIR}/fuzz/${target}") # new inputs go into the first folder that libFuzzer is given
  file(MAKE_DIRECTORY "${found}")
  math(EXPR bound "${MILLRACE_FUZZ_SECONDS} * 2 + ${MILLRACE_TEST_TIMEOUT}")
  add_test(NAME ${library}.fuzz.${name} COMMAND ${target} -max_total_time=${MILLRACE_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=1024
                                                -print_final_stats=1 "-artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/${target}-" "${found}"
                                                "${root}/tests/fuzz/corpus/${name}")
  set_tests_properties(${library}.fuzz.${name} PROPERTIES LABELS "${library};fuzz" TIMEOUT ${bound})
endfunction()

# The sanitizers' own presets have other flags, and g++ has no libFuzzer.
function(millrace_add_fuzz_tests library)
  millrace_library_folder(folder ${library})
  set(root "${PROJECT_SOURCE_DIR}/${folder}")
  file(GLOB targets CONFIGURE_DEPENDS "${root}/tests/fuzz/*_fuzz.cpp")
  if(NOT targets OR MILLRACE_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  set(libs millrace::${library})
  if(TARGET millrace::testing)
    list(APPEND libs millrace::testing)
  endif()
  get_target_property(private_links millrace_${library} MILLRACE_PRIVATE_LINKS)
  list(APPEND libs ${private_links})
  millrace_fuzz_sources(sources "${root}")
  add_library(${library}_fuzz_sources OBJECT ${sources})
  target_link_libraries(${library}_fuzz_sources PRIVATE ${libs})
  target_include_directories(${library}_fuzz_sources PRIVATE "${root}/src" "${root}/tests")
  millrace_fuzz_options(${library}_fuzz_sources)
  foreach(source IN LISTS targets)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_fuzz$" "" name "${stem}")
    millrace_add_fuzz_target(${library} "${root}" ${name} "${source}" ${libs})
  endforeach()
endfunction()
