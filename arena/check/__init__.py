"""Whether any engine keeps to the protocol: ``caboose check``."""
