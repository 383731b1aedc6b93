"""Makes the inputs of the tasks from fixed seeds; the build of the image runs it once."""
