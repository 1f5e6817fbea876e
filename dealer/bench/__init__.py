"""Measurements of this program beside its peers, one module per subject."""
