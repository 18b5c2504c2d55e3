# For ORFEBRE_BACKENDS_ONLY: fmt and GoogleTest from this machine's headers and sources, whatever machine the
# build is for, so that a cross build needs no library of the other machine.
find_path(ORFEBRE_FMT_HEADERS fmt/core.h PATHS /usr/include /usr/local/include /opt/homebrew/include
          NO_CMAKE_FIND_ROOT_PATH REQUIRED)
# A folder of their own: beside them stand headers of this machine's C library.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
file(CREATE_LINK ${ORFEBRE_FMT_HEADERS}/fmt ${CMAKE_BINARY_DIR}/headers/fmt SYMBOLIC)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_include_directories(fmt::fmt SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/headers)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

if(ORFEBRE_BUILD_TESTS)
  set(ORFEBRE_GTEST_SOURCES /usr/src/googletest CACHE PATH "Sources of GoogleTest (Debian: package googletest)")
  if(NOT EXISTS ${ORFEBRE_GTEST_SOURCES}/CMakeLists.txt)
    message(FATAL_ERROR "ORFEBRE_GTEST_SOURCES: expected GoogleTest's sources in ${ORFEBRE_GTEST_SOURCES}, found none; "
                        "install the package googletest or set the variable")
  endif()
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
  add_subdirectory(${ORFEBRE_GTEST_SOURCES} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  target_compile_options(gtest PRIVATE -O0)  # compiling it with -O3 takes longer than every test that it runs
endif()
