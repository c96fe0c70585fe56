"""What every broker machine is made of, whatever its protocol: peers, outbox, service station, options."""
