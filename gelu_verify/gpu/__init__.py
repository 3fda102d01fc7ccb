"""CUDA devices: detection, compilation with nvcc, launches, timing, faults."""
