"""Running a plan on another machine over ssh: `testbed deploy FILE --on HOST:FOLDER`.

near.py   here: sends the plan, shows the progress, receives the run folder
far.py    there: runs it like any deployment, in a clone of the testbed that is set up
job.py    the first line that goes over

One ssh connection carries everything. Its input stays open while the run goes on and closing it ends the run
in order, so nothing keeps running on the other machine when this one goes away.
"""
