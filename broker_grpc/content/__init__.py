"""Content-based routing: language, filters, matching index, SRT and PRT."""
