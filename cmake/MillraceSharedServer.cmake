# A server that takes seconds to start is started by a test of its own, which ctest runs before the tests that need it; so its start
# counts against none of their limits. libs/<name>/tests/<part>/shared_servers.txt says which tests of that folder need which: a line
# is a server of tools/with-<server>, a regular expression for the tests' names, and `fragile` if they need the one that is lent to one
# test at a time. The last line that matches a test holds.

# The servers that examples use and that are worth it.
set(MILLRACE_SLOW_SERVERS rabbitmq artemis)

# The tests server.<id> and server.<id>.end, once. `kind` is empty, or fragile.
function(millrace_add_shared_server id server kind)
  get_property(known GLOBAL PROPERTY MILLRACE_SHARED_SERVERS)
  if(id IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY MILLRACE_SHARED_SERVERS ${id})
  set(tool "${PROJECT_SOURCE_DIR}/tools/with-${server}")
  add_test(NAME server.${id} COMMAND "${tool}" --start-shared ${kind})
  add_test(NAME server.${id}.end COMMAND "${tool}" --end-shared ${kind})
  set_tests_properties(server.${id} PROPERTIES FIXTURES_SETUP server.${id} TIMEOUT 300 LABELS server)
  set_tests_properties(server.${id}.end PROPERTIES FIXTURES_CLEANUP server.${id} TIMEOUT 60 LABELS server)
endfunction()

# What a test's file of properties says of the servers that `file` lists, for the tests in the variable named `tests`; and where
# each server's description is, for their environment.
function(millrace_use_shared_servers file tests properties_result environment_result)
  set(properties)
  set(environment)
  file(STRINGS "${file}" lines)
  list(REVERSE lines)
  set(when if) # the fixtures of a test add up when they are set again
  foreach(line IN LISTS lines)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(GET words 0 server)
    list(GET words 1 pattern)
    set(id ${server})
    set(kind)
    set(alone)
    if(fragile IN_LIST words)
      set(id ${server}_fragile)
      set(kind fragile)
      set(alone " RESOURCE_LOCK server.${id}") # a test that waits for it takes no job and none of its time
    endif()
    millrace_add_shared_server(${id} ${server} "${kind}")
    string(APPEND properties "  ${when}(test MATCHES \"${pattern}\")\n"
                             "    set_tests_properties(\"\${test}\" PROPERTIES FIXTURES_REQUIRED server.${id}${alone})\n")
    set(when elseif)
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/with-${server}" --where OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(TOUPPER "${server}" upper)
    list(APPEND environment "MILLRACE_${upper}_SHARED=${folder}")
  endforeach()
  list(REMOVE_DUPLICATES environment)
  set(${properties_result} "foreach(test IN LISTS ${tests})\n${properties}  endif()\nendforeach()\n" PARENT_SCOPE)
  set(${environment_result} "${environment}" PARENT_SCOPE)
endfunction()
