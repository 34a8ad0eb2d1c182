"""The commands of ``caboose``, one file for each."""
