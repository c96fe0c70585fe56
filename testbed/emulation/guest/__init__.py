"""The guest: a machine with its own kernel and clock, run as an ordinary process.

    api.py        Guest, GuestSpec, GuestProcess: what the rest of the harness uses
    spec.py       what a guest is made of
    bootline.py   the kernel's command line
    preflight.py  what this machine must offer before a guest is booted
    control.py    the folder through which the outside and the inside know each other
    keeper.py     the process beside the guest: owns it, relays to it, freezes it, never outlives its use
    inside/       what runs in the guest as its first process (standard library only)

This package imports nothing here, because `inside` is imported without the project's dependencies.
"""
