"""Races lanes on one device: one decoder a lane, the fair race, its wiring and its checks."""
