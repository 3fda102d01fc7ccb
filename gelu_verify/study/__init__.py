"""What precision costs a network: small networks trained and served with many GELUs, dtype by dtype."""
