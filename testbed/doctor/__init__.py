"""What this machine can do. Every probe tries the thing itself and leaves nothing behind.

examination.py   all probes, in the order of the report
engines.py       which engine `auto` chooses, from what was found
finding.py       what a probe answers
"""

from testbed.doctor.examination import engine_choice, examine
from testbed.doctor.finding import Finding, State

__all__ = ["Finding", "State", "engine_choice", "examine"]
