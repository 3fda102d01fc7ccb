"""Elements per second: interleaved repeats, throughput, cache levels, `bench`."""
