# Embeds the files of inspect/page/ in inspect/page_files.h of the build folder, again whenever one
# of them changes.
function(fuselage_embed_page target)
  set(folder ${PROJECT_SOURCE_DIR}/inspect/page)
  set(scripts format.js model.js layout.js tree.js scene.js drawing.js costs.js panels.js view.js address.js
              controls.js selftest.js start.js)
  file(READ ${folder}/page.html PAGE_HTML)
  file(READ ${folder}/style.css PAGE_STYLE)
  file(READ ${folder}/comparison.html PAGE_COMPARISON)
  # Apart, since compilers limit the length of a literal.
  set(PAGE_SCRIPTS)
  foreach(script IN LISTS scripts)
    file(READ ${folder}/${script} text)
    string(APPEND PAGE_SCRIPTS "R\"page(${text})page\",\n")
  endforeach()
  foreach(part IN LISTS scripts ITEMS page.html style.css comparison.html)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${part})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/inspect/page_files.h.in
                 ${PROJECT_BINARY_DIR}/generated/inspect/page_files.h @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

# The same of server/page/, in server/page_files.h.
function(fuselage_embed_server_page target)
  set(folder ${PROJECT_SOURCE_DIR}/server/page)
  file(READ ${folder}/page.html SERVE_HTML)
  file(READ ${folder}/style.css SERVE_STYLE)
  set(scripts words.js shown.js menu.js selftest.js page.js)
  set(SERVE_SCRIPTS)
  foreach(script IN LISTS scripts)
    file(READ ${folder}/${script} text)
    string(APPEND SERVE_SCRIPTS "R\"page(${text})page\"\n")
  endforeach()
  file(READ ${folder}/openapi.json SERVE_OPENAPI)
  foreach(part IN LISTS scripts ITEMS page.html style.css openapi.json)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${part})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/server/page_files.h.in
                 ${PROJECT_BINARY_DIR}/generated/server/page_files.h @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
