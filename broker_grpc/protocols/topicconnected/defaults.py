"""The paper's defaults, apart from the settings: what is computed hangs on these alone."""

RHO = 3.0  # section VI, after Onus and Richa
COVERAGE = 3  # lambda, section V-G
