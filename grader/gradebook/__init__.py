"""A gradebook in, the same gradebook with one column filled."""
