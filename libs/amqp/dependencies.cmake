millrace_need_library(core)
millrace_need_library(net)
# The engine without Proton's own I/O. Debian's package has no CMake file, and no name for the linker that has no version.
find_library(MILLRACE_PROTON_CORE NAMES qpid-proton-core libqpid-proton-core.so.10 DOC "Qpid Proton's protocol engine")
find_path(MILLRACE_PROTON_INCLUDE proton/connection_driver.h DOC "Qpid Proton's headers")
if(NOT MILLRACE_PROTON_CORE OR NOT MILLRACE_PROTON_INCLUDE)
  list(APPEND millrace_missing "Qpid Proton (Debian: libqpid-proton11-dev)")
elseif(NOT TARGET Proton::core)
  add_library(Proton::core UNKNOWN IMPORTED GLOBAL)
  set_target_properties(Proton::core PROPERTIES IMPORTED_LOCATION "${MILLRACE_PROTON_CORE}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${MILLRACE_PROTON_INCLUDE}")
endif()
