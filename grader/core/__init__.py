"""Plain data about what is graded and what came of it, and text made safe."""
