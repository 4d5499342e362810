// Nothing: its target precompiles the header that all test programs include.
