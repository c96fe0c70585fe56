"""Content-based routing on a tree (PADRES): SRT, PRT, link repair, and the seat of layers."""
