"""The checks, one file per exercise; `hidden/` holds those that compare with the model answers on fresh inputs."""
