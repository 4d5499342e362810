// A library that is no extension: its function is not exported.

extern "C" __attribute__((visibility("hidden"))) void fuselage_extension() {}
