"""What a measurement found: one frozen record, its serialiser, what makes it valid, its grade and its sentence."""
