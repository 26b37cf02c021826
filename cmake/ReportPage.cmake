# Builds report/ into one HTML file. Sets EBB_REPORT_PAGE to it, or to nothing where there is no npm: then the tool is
# built all the same and says so when a page is asked for.
option(EBB_WITH_REPORT_PAGE "Build the report page with npm, where there is one" ON)
set(EBB_REPORT_PAGE "" CACHE INTERNAL "The built page, where there is one")
find_program(EBB_NPM npm)
find_program(EBB_NODE NAMES node nodejs)
if(NOT EBB_WITH_REPORT_PAGE OR NOT EBB_NPM OR NOT EBB_NODE)
  message(STATUS "The report page is left out: EBB_WITH_REPORT_PAGE is off, or there is no npm")
  return()
endif()

# What the page is built with is fetched now: where that fails, the tool is built without its page.
set(EBB_REPORT_SOURCE ${PROJECT_SOURCE_DIR}/report)
set(modules ${EBB_REPORT_SOURCE}/node_modules/.package-lock.json)
if(NOT EXISTS ${modules} OR ${EBB_REPORT_SOURCE}/package-lock.json IS_NEWER_THAN ${modules})
  message(STATUS "Installing what the report page is built with (npm ci; -DEBB_WITH_REPORT_PAGE=OFF does without)")
  execute_process(COMMAND ${EBB_NPM} ci --no-progress --loglevel=error
    WORKING_DIRECTORY ${EBB_REPORT_SOURCE} RESULT_VARIABLE npm_result OUTPUT_QUIET)
  if(NOT npm_result EQUAL 0)
    message(WARNING "npm ci failed in ${EBB_REPORT_SOURCE}: the report page is left out, and its tests are skipped")
    return()
  endif()
  file(TOUCH ${modules})
endif()

set(EBB_REPORT_PAGE ${PROJECT_BINARY_DIR}/report/index.html CACHE INTERNAL "The built page, where there is one")
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${EBB_REPORT_SOURCE}/src/*)
add_custom_command(OUTPUT ${EBB_REPORT_PAGE}
  COMMAND ${EBB_NODE} node_modules/vite/bin/vite.js build --logLevel warn --outDir ${PROJECT_BINARY_DIR}/report
  DEPENDS ${modules} ${page_sources} ${EBB_REPORT_SOURCE}/index.html ${EBB_REPORT_SOURCE}/vite.config.ts
    ${EBB_REPORT_SOURCE}/tsconfig.json
  WORKING_DIRECTORY ${EBB_REPORT_SOURCE}
  COMMENT "Building the report page"
  VERBATIM)
add_custom_target(ebb_report_page DEPENDS ${EBB_REPORT_PAGE})
