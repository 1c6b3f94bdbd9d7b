# Warnings, sanitizers, and, for our own builds only, ccache and mold.

# A static library may end up in a user's shared one.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

function(millrace_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi)
  if(MILLRACE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE -Wshadow -Wimplicit-fallthrough)
  else()
    # g++ 12 reports these where there is nothing, in optimised coroutine frames and in the standard library itself.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-stringop-overflow
                                             -Wno-restrict -Wno-array-bounds)
    if(MILLRACE_SANITIZE STREQUAL "thread")
      target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
  endif()
endfunction()

if(MILLRACE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(MILLRACE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(MILLRACE_SANITIZE)
  message(FATAL_ERROR "millrace: MILLRACE_SANITIZE is \"${MILLRACE_SANITIZE}\"; there is address and thread")
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(MILLRACE_CCACHE ccache)
if(MILLRACE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # The two sloppinesses are what ccache asks for with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1 ${MILLRACE_CCACHE})
endif()

find_program(MILLRACE_MOLD mold)
if(MILLRACE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
