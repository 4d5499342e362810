# fuselage_hosts_module(TARGET): a program that may load the module of the CUDA back-end, and
# extensions. It links the layers that these use as whole archives and exports their symbols.
function(fuselage_hosts_module target)
  set(layers fuselage_base fuselage_graph fuselage_ops fuselage_passes fuselage_backends
             fuselage_models)
  list(JOIN layers "," whole)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON
                                             LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole}")
endfunction()
