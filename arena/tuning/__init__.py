"""Tuning: parameters of an engine are searched over blocks, and what comes of it is tested on fresh deals."""
