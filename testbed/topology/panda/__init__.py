"""PANDA's topology files (PADRES user guide, section 6): read into ours, and written from ours."""
