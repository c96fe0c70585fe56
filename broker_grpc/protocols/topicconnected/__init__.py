"""Topic-connected overlays: construction from scratch, and maintenance under churn.

After Chen, Jacobsen, Vitenberg, "Reinforce Your Overlay with Shadows" (2011): LOW-ODA (section III),
the naive dynamic algorithms (V-B) and the shadow algorithms (V-C to V-G). All pure and seeded.
"""
