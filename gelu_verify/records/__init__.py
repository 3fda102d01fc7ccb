"""What a measurement found, as the documented JSON object, and what makes such an object valid."""
