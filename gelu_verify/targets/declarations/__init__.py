"""Functions that are declared in C, C++, CUDA or PTX, and how they are called: only read here, never called."""
