"""The worksheet, from the bytes of a file to points."""
