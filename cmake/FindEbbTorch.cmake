# Is there a PyTorch to build the adapter for? EBB_TORCH: ON (must be there), OFF, or AUTO (not with sanitizers:
# libtorch and the interpreter are not built with them). Sets EBB_BUILD_TORCH and the facts about the interpreter.
set(EBB_TORCH AUTO CACHE STRING "Build the PyTorch adapter: ON, OFF or AUTO")
set(EBB_PYTHON /usr/bin/python3 CACHE FILEPATH "The interpreter whose PyTorch the adapter is for")
set(EBB_BUILD_TORCH OFF)
if(EBB_TORCH STREQUAL "OFF" OR (EBB_TORCH STREQUAL "AUTO" AND EBB_SANITIZE))
  return()
endif()
execute_process(
  COMMAND ${EBB_PYTHON} -c
    "import sysconfig, torch; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'), torch.utils.cmake_prefix_path, torch.version.cuda or '', sep=';')"
  OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  list(GET facts 0 EBB_PYTHON_INCLUDE)
  list(GET facts 1 EBB_PYTHON_SUFFIX)
  list(GET facts 2 prefix)
  list(GET facts 3 EBB_TORCH_CUDA)
  find_package(Torch QUIET HINTS ${prefix})
endif()
if(Torch_FOUND AND EXISTS ${EBB_PYTHON_INCLUDE}/Python.h)
  find_library(EBB_TORCH_PYTHON_LIBRARY torch_python HINTS ${TORCH_INSTALL_PREFIX}/lib)
  set(EBB_BUILD_TORCH ON)
elseif(EBB_TORCH STREQUAL "ON")
  message(FATAL_ERROR "EBB_TORCH is ON, but ${EBB_PYTHON} has no PyTorch with headers")
endif()
message(STATUS "PyTorch adapter: ${EBB_BUILD_TORCH}")
