# What a user may set. As a subproject, only the libraries are built.

set(MILLRACE_KNOWN_LIBRARIES core memory net nats rabbitmq amqp pubsub cbor msgpack protobuf sqlite testing testing_pubsub)
set(MILLRACE_LIBRARIES "auto" CACHE STRING
    "auto: every library whose dependencies are there; or a ;-list of names, each of which must be buildable")
option(MILLRACE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(MILLRACE_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(MILLRACE_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(MILLRACE_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
option(MILLRACE_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
set(MILLRACE_SANITIZE "" CACHE STRING "empty, address (with undefined), or thread")
set_property(CACHE MILLRACE_SANITIZE PROPERTY STRINGS "" address thread)
set(MILLRACE_TEST_TIMEOUT 120 CACHE STRING "Seconds that one test may take, the start of a shared server included")

if(MILLRACE_LIBRARIES STREQUAL "auto")
  set(MILLRACE_WANTED ${MILLRACE_KNOWN_LIBRARIES})
else()
  set(MILLRACE_WANTED ${MILLRACE_LIBRARIES})
  foreach(library IN LISTS MILLRACE_WANTED)
    if(NOT library IN_LIST MILLRACE_KNOWN_LIBRARIES)
      message(FATAL_ERROR "millrace: MILLRACE_LIBRARIES names \"${library}\"; there is ${MILLRACE_KNOWN_LIBRARIES}")
    endif()
  endforeach()
endif()
