"""Ladders: a folder of engines, lists of games between them, and all results, which nothing loses."""
