# Tests of a library, by folder (millrace_library_folder says where libs/<name> of testing_pubsub is):
#   libs/<name>/tests/*.cpp                  <name>_test
#   libs/<name>/tests/{unit,wire}/**.cpp     <name>_unit_test
#   libs/<name>/tests/server/**.cpp          <name>_server_test, label "server": each starts the server that it needs
#   libs/<name>/tests/fuzz/*_fuzz.cpp        see MillraceFuzz.cmake, label "fuzz"
#   libs/<name>/tests/<other>/**.cpp         <name>_<other>_test
#   libs/<name>/tests/<other>/CMakeLists.txt says itself how that folder is built and run
#   libs/<name>/tests/support/*.cpp          part of each of them
#   tests/support/*.cpp                      millrace_test_support, which all of them link
#   libs/<name>/tests/<part>/shared_servers.txt  see MillraceSharedServer.cmake
#   libs/<name>/tests/left_out.cmake         may add to millrace_left_out folders that this machine has no server for
# A test may include what is in src/ and tests/ of its library, and use core, memory, testing and, in <name>, testing_<name>.

include(GoogleTest)
include(MillraceFuzz)
include(MillraceSharedServer)
find_package(GTest REQUIRED)

find_program(MILLRACE_NATS_SERVER nats-server PATHS /usr/sbin DOC "The nats-server that server tests start")
find_program(MILLRACE_SYMBOLIZER NAMES llvm-symbolizer-19 llvm-symbolizer DOC "What names the frames of a sanitizer's report")
set(symbolizer)
if(MILLRACE_SYMBOLIZER)
  set(symbolizer ":external_symbolizer_path=${MILLRACE_SYMBOLIZER}")
endif()
set(MILLRACE_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=1${symbolizer}"
                              "UBSAN_OPTIONS=print_stacktrace=1${symbolizer}" "TSAN_OPTIONS=halt_on_error=1${symbolizer}")
if(MILLRACE_NATS_SERVER)
  list(APPEND MILLRACE_TEST_ENVIRONMENT "MILLRACE_NATS_SERVER=${MILLRACE_NATS_SERVER}")
endif()

# On the tests only: what a library is compiled with is the same in a subproject, so that ccache knows it there.
function(millrace_set_pch_options target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-instantiate-templates)
  if(MILLRACE_CCACHE)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# One precompiled header for all tests: gtest, the containers and core are most of what a test compiles.
function(millrace_use_test_pch target)
  if(NOT TARGET millrace_test_pch)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_pch.cpp" CONTENT "// The owner of the tests' precompiled header.\n")
    add_library(millrace_test_pch OBJECT "${PROJECT_BINARY_DIR}/test_pch.cpp")
    target_compile_features(millrace_test_pch PRIVATE cxx_std_23)
    target_link_libraries(millrace_test_pch PRIVATE millrace::core GTest::gtest Threads::Threads)
    target_precompile_headers(
      millrace_test_pch PRIVATE <gtest/gtest.h> <chrono> <coroutine> <cstdint> <expected> <functional> <map> <memory>
      <optional> <string> <string_view> <variant> <vector> <millrace/millrace.hpp>)
    set_target_properties(millrace_test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    millrace_set_warnings(millrace_test_pch)
    millrace_set_pch_options(millrace_test_pch)
  endif()
  # An object library and a program would differ in -fPIC and -fPIE, and a precompiled header must match in both.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  millrace_set_pch_options(${target})
  target_precompile_headers(${target} REUSE_FROM millrace_test_pch)
endfunction()

# What the tests of several libraries use.
function(millrace_use_test_support target)
  if(NOT TARGET millrace_test_support)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
    add_library(millrace_test_support STATIC EXCLUDE_FROM_ALL ${sources})
    target_compile_features(millrace_test_support PRIVATE cxx_std_23)
    target_include_directories(millrace_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(millrace_test_support PUBLIC millrace::core Threads::Threads)
    millrace_set_warnings(millrace_test_support)
  endif()
  target_link_libraries(${target} PRIVATE millrace_test_support)
endfunction()

# millrace_test(<name> PREFIX <prefix> SOURCES <file>... [LIBS <target>...] [LABELS <label>...] [TIMEOUT <seconds>] [SERVERS <file>])
# One gtest program; each of its tests is a test of ctest, named <prefix>.<suite>.<test>.
function(millrace_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;TIMEOUT;SERVERS" "SOURCES;LIBS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${MILLRACE_TEST_TIMEOUT})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main Threads::Threads)
  millrace_set_warnings(${name})
  millrace_use_test_pch(${name})
  set(prefix)
  if(arg_PREFIX)
    set(prefix "${arg_PREFIX}.")
  endif()
  gtest_discover_tests(
    ${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX "${prefix}"
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # Properties that are lists do not survive DISCOVERY_MODE PRE_TEST: ctest sets them when it has discovered.
  set(of_servers)
  set(environment ${MILLRACE_TEST_ENVIRONMENT})
  if(arg_SERVERS)
    millrace_use_shared_servers("${arg_SERVERS}" ${name}_TESTS of_servers folders)
    list(APPEND environment ${folders})
  endif()
  set(properties "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
  file(CONFIGURE OUTPUT "${properties}" @ONLY
       CONTENT "set_tests_properties(\${${name}_TESTS} PROPERTIES\n  LABELS \"@arg_LABELS@\"\n  ENVIRONMENT \"@environment@\")\n@of_servers@")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties}")
endfunction()

# millrace_add_tests_of(<library> <part> <file>...): the program <library>_<part>; its label beside the library is the part's.
function(millrace_add_tests_of library part)
  if(NOT ARGN)
    return()
  endif()
  set(libs millrace::${library})
  foreach(helper core memory testing testing_${library})
    if(TARGET millrace::${helper})
      list(APPEND libs millrace::${helper})
    endif()
  endforeach()
  get_target_property(private_links millrace_${library} MILLRACE_PRIVATE_LINKS)
  list(REMOVE_DUPLICATES libs)
  string(REGEX REPLACE "_?test$" "" label "${part}")
  millrace_library_folder(folder ${library})
  set(root "${PROJECT_SOURCE_DIR}/${folder}")
  set(servers "${root}/tests/${label}/shared_servers.txt")
  if(EXISTS "${servers}")
    set(servers SERVERS "${servers}")
  else()
    set(servers)
  endif()
  millrace_test(
    ${library}_${part}
    PREFIX ${library}
    SOURCES ${ARGN}
    LIBS ${libs} ${private_links}
    LABELS ${library} ${label}
    ${servers})
  target_include_directories(${library}_${part} PRIVATE "${root}/src" "${root}/tests")
  millrace_use_test_support(${library}_${part})
endfunction()

function(millrace_add_library_tests)
  get_property(available GLOBAL PROPERTY MILLRACE_AVAILABLE)
  foreach(library IN LISTS available)
    millrace_library_folder(folder ${library})
    set(tests "${PROJECT_SOURCE_DIR}/${folder}/tests")
    set(millrace_left_out)
    include("${tests}/left_out.cmake" OPTIONAL)
    file(GLOB support CONFIGURE_DEPENDS "${tests}/support/*.cpp")
    file(GLOB plain CONFIGURE_DEPENDS "${tests}/*.cpp")
    millrace_add_tests_of(${library} test ${plain})
    file(GLOB_RECURSE unit CONFIGURE_DEPENDS "${tests}/unit/*.cpp" "${tests}/wire/*.cpp")
    if(unit)
      millrace_add_tests_of(${library} unit_test ${unit} ${support})
    endif()
    file(GLOB parts CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE "${tests}" "${tests}/*")
    list(REMOVE_ITEM parts unit wire support fuzz ${millrace_left_out})
    if(MILLRACE_SANITIZE STREQUAL "thread")
      list(REMOVE_ITEM parts allocation) # ThreadSanitizer brings an operator new of its own
    endif()
    millrace_add_fuzz_tests(${library})
    foreach(part IN LISTS parts)
      if(EXISTS "${tests}/${part}/CMakeLists.txt")
        add_subdirectory("${tests}/${part}" "${PROJECT_BINARY_DIR}/tests/${library}_${part}")
        continue()
      endif()
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${tests}/${part}/*.cpp")
      if(sources)
        millrace_add_tests_of(${library} ${part}_test ${sources} ${support})
      endif()
    endforeach()
  endforeach()
endfunction()

# Every public header compiles alone: one object a header, without optimisation.
function(millrace_add_header_tests)
  get_property(available GLOBAL PROPERTY MILLRACE_AVAILABLE)
  foreach(library IN LISTS available)
    millrace_library_folder(folder ${library})
    set(root "${PROJECT_SOURCE_DIR}/${folder}/include")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.hpp")
    set(sources)
    foreach(header IN LISTS headers)
      string(MAKE_C_IDENTIFIER "${header}" identifier)
      set(source "${PROJECT_BINARY_DIR}/headers/${library}/${identifier}.cpp")
      file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n#include <${header}> // twice: it has a guard\n")
      list(APPEND sources "${source}")
    endforeach()
    if(sources)
      add_library(${library}_headers OBJECT ${sources})
      target_link_libraries(${library}_headers PRIVATE millrace::${library})
      millrace_set_warnings(${library}_headers)
      target_compile_options(${library}_headers PRIVATE -O0 -g0)
    endif()
  endforeach()
endfunction()
