"""Elements per second: interleaved repeats, throughput, cache levels, our kernels beside their rivals."""
