"""One module for each output format; each turns a result into text and runs nothing."""
