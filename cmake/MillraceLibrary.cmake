# A library is a folder libs/<name> with include/, src/, tests/, dependencies.cmake and CMakeLists.txt. A part of it that
# needs more than the rest is a library of its own in a folder of that: testing_pubsub is libs/testing/pubsub.

# Below the root of the tree.
function(millrace_library_folder result name)
  string(REPLACE "_" "/" path "${name}")
  set(${result} "libs/${path}" PARENT_SCOPE)
endfunction()

function(millrace_skip name reason)
  if(NOT MILLRACE_LIBRARIES STREQUAL "auto")
    message(FATAL_ERROR "millrace: ${name} was asked for, but ${reason}")
  endif()
  message(STATUS "millrace: ${name} skipped: ${reason}")
endfunction()

# Adds a library and, before it, the libraries that it needs.
function(millrace_add_library_directory name)
  millrace_library_folder(folder ${name})
  set(directory "${PROJECT_SOURCE_DIR}/${folder}")
  if(TARGET millrace_${name})
    return()
  elseif(NOT EXISTS "${directory}/CMakeLists.txt")
    if(NOT MILLRACE_LIBRARIES STREQUAL "auto")
      millrace_skip(${name} "it is not in this tree")
    endif()
    return()
  endif()

  set(millrace_needs)
  set(millrace_missing)
  include("${directory}/dependencies.cmake" OPTIONAL)
  foreach(needed IN LISTS millrace_needs)
    millrace_add_library_directory(${needed})
    if(NOT TARGET millrace_${needed})
      list(APPEND millrace_missing "millrace::${needed}")
    endif()
  endforeach()
  if(millrace_missing)
    list(JOIN millrace_missing ", " missing)
    millrace_skip(${name} "this is missing: ${missing}")
    return()
  endif()
  add_subdirectory("${directory}" "${PROJECT_BINARY_DIR}/${folder}")
endfunction()

# millrace_library(<name> [PUBLIC <target>...] [PRIVATE <target>...] [BUILD_ONLY <target>...])
# The target millrace_<name>, alias millrace::<name>. It links the libraries of its dependencies.cmake. BUILD_ONLY is for
# header-only packages that src/ uses: whoever links the library does not need them.
function(millrace_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;BUILD_ONLY")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "src/*.cpp")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "include/*.hpp")
  if(NOT sources)
    millrace_skip(${name} "it has no sources")
    return()
  endif()

  set(target millrace_${name})
  add_library(${target} ${sources})
  add_library(millrace::${name} ALIAS ${target})
  list(TRANSFORM millrace_needs PREPEND "millrace::" OUTPUT_VARIABLE needed_targets)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  target_include_directories(${target} PRIVATE src)
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(
    ${target}
    PUBLIC ${needed_targets} ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE})
  foreach(package IN LISTS arg_BUILD_ONLY)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${package}>)
  endforeach()
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${name}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
               MILLRACE_PRIVATE_LINKS "${arg_PRIVATE};${arg_BUILD_ONLY}")
  millrace_set_warnings(${target})
  set_property(GLOBAL APPEND PROPERTY MILLRACE_AVAILABLE ${name})
  millrace_install_library(${name})
endfunction()

function(millrace_print_summary)
  get_property(available GLOBAL PROPERTY MILLRACE_AVAILABLE)
  message(STATUS "millrace ${PROJECT_VERSION}: ${available}")
endfunction()
