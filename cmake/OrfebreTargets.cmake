# The project's own target helpers: one static library a folder of src/, one test program a folder of tests/.

add_library(orfebre_options INTERFACE)
target_include_directories(orfebre_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
# Floating-point results are part of the contract: no contraction behind the source's back, no fast-math.
target_compile_options(orfebre_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -ffp-contract=off -fno-math-errno
  $<$<BOOL:${ORFEBRE_WARNINGS_AS_ERRORS}>:-Werror>)
if(ORFEBRE_SANITIZE)
  target_compile_options(orfebre_options INTERFACE
    -fsanitize=${ORFEBRE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(orfebre_options INTERFACE -fsanitize=${ORFEBRE_SANITIZE})
endif()

# orfebre_library(<name> [FOLDERS <folders>...] [DEPS <targets>...] [PRIVATE <targets>...])
# Builds every .cpp directly in the current folder, and in FOLDERS below it, as the static library orfebre_<name>.
# DEPS are the folders and libraries that its headers need, PRIVATE those that only its sources need.
function(orfebre_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;DEPS;PRIVATE" ${ARGN})
  list(TRANSFORM ARG_FOLDERS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${ARG_FOLDERS})
  if(sources)
    add_library(orfebre_${name} STATIC ${sources})
    target_link_libraries(orfebre_${name} PUBLIC orfebre_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(orfebre_${name} INTERFACE)
    target_link_libraries(orfebre_${name} INTERFACE orfebre_options ${ARG_DEPS})
  endif()
endfunction()

# orfebre_test(<folder> [DEPS <targets>...])
# Builds tests/<folder>/*.cpp as test_<folder>; tests find committed data under ORFEBRE_TEST_DATA_DIR.
function(orfebre_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target test_${folder})
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE orfebre_options ${ARG_DEPS} GTest::gtest_main)
  if(NOT ORFEBRE_BACKENDS_ONLY)
    target_link_libraries(${target} PRIVATE GTest::gmock)
  endif()
  target_compile_definitions(${target} PRIVATE
    ORFEBRE_TEST_DATA_DIR="${CMAKE_SOURCE_DIR}/tests/data"
    ORFEBRE_DEMO_MODEL_DIR="${CMAKE_SOURCE_DIR}/models/demo")
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
endfunction()
