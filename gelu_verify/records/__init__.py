"""What a measurement found: one frozen record, its serialiser, what makes it valid, and its documentation."""
