"""PTX executed on the CPU: nvcc's output, translated to C++, every access of memory checked; for tests without a GPU."""
