"""The rules of our games as plain Python: no Django, no clock, no chance, no other app."""
