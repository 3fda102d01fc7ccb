"""What a gate found, as CI systems read it: JUnit XML, SARIF, GitHub annotations and step summary."""
