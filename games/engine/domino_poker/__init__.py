"""Domino Poker: bid how many of seven tricks you will take, and take just as many."""
