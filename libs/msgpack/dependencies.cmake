millrace_need_library(core)
