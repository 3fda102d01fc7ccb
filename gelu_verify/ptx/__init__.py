"""PTX executed on the CPU: nvcc's output as C++, every access of memory checked; for machines without a GPU."""
