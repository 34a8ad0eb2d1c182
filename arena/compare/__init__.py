"""Comparisons: a sequential test tells whether one engine is better than another, and plays no more than it needs."""
