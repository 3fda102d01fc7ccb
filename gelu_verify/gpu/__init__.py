"""CUDA devices: what is there, compilation with nvcc, launches, the device's clock, faults."""
