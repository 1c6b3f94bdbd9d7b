# How a library names what it needs, in libs/<name>/dependencies.cmake. The build and the installed package both read that
# file, so find_package(millrace COMPONENTS nats) looks for exactly what nats was built with.

# Another library of Millrace.
macro(millrace_need_library name)
  list(APPEND millrace_needs ${name})
endmacro()

# A package of CMake: name, what to tell who has it not, then the arguments of find_package.
macro(millrace_need_package name hint)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND millrace_missing "${name} (${hint})")
  endif()
endmacro()

# A module of pkg-config; its target is PkgConfig::<module>.
macro(millrace_need_pkg_config module hint)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(${module} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
  if(NOT TARGET PkgConfig::${module})
    list(APPEND millrace_missing "${module} (${hint})")
  endif()
endmacro()
