"""Where data sets are published: versions, their manifests, the storage below, the catalogue for intake."""
