"""Bots of Domino Poker."""
