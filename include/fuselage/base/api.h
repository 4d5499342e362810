#pragma once

// Symbols of the shared library are hidden unless their namespace says otherwise.

/// Opens the namespaces of public headers, whose declarations are the library's interface.
#define FUSELAGE_API [[gnu::visibility("default")]]
