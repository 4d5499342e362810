# Embeds the files of inspect/page/ in inspect/page_files.h of the build folder, again whenever one
# of them changes.
function(fuselage_embed_page target)
  foreach(part IN ITEMS HTML:page.html STYLE:style.css LAYOUT:layout.js MODEL:model.js VIEW:view.js PANELS:panels.js
                        SELFTEST:selftest.js)
    string(REPLACE ":" ";" part ${part})
    list(GET part 0 name)
    list(GET part 1 file)
    set(path ${PROJECT_SOURCE_DIR}/inspect/page/${file})
    file(READ ${path} PAGE_${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/inspect/page_files.h.in
                 ${PROJECT_BINARY_DIR}/generated/inspect/page_files.h @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
