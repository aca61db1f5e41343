"""Plain data about submissions and results, and text made safe."""
