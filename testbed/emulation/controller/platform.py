"""The one place that knows which OpenFlow framework runs: Ryu 4.34 (os-ken has the same interface).

Ryu expects a name that later eventlets removed, so it is put back before the first import. Importing this
module patches the standard library for green threads: only the controller's process may do it.
"""

from __future__ import annotations

import os
import warnings

os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")  # no names are looked up; spares its imports
warnings.filterwarnings("ignore", message="(?s).*Eventlet is deprecated")

import eventlet  # type: ignore[import-untyped]  # noqa: E402
import eventlet.wsgi  # type: ignore[import-untyped]  # noqa: E402

if not hasattr(eventlet.wsgi, "ALREADY_HANDLED"):
    eventlet.wsgi.ALREADY_HANDLED = object()
eventlet.monkey_patch(os=False, select=True, socket=True, thread=False, time=True)

from ryu import cfg  # noqa: E402
from ryu.base import app_manager  # noqa: E402
from ryu.controller import controller, ofp_event  # noqa: E402
from ryu.controller.handler import (  # noqa: E402
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_cls,
)
from ryu.lib import hub  # noqa: E402
from ryu.ofproto import ofproto_v1_3  # noqa: E402

FRAMEWORK = "ryu"

__all__ = [
    "CONFIG_DISPATCHER",
    "DEAD_DISPATCHER",
    "FRAMEWORK",
    "MAIN_DISPATCHER",
    "app_manager",
    "cfg",
    "controller",
    "eventlet",
    "hub",
    "ofp_event",
    "ofproto_v1_3",
    "set_ev_cls",
]
