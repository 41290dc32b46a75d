"""The reference of HW2: the solved files, the cases, the oracle, the embedded corpus."""
