"""Topic clustering at paper size: the protocol's decisions, channels that answer at once.

`system` holds who is subscribed to what; `users` are the policies of section 4; `clusters` the changes of
section 3; `rounds` the periodic samples; `timeline` drives them through a list of operations.
"""
