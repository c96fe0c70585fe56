"""Chen, Jacobsen, Vitenberg: "Reinforce Your Overlay with Shadows" (2011), section VI."""
