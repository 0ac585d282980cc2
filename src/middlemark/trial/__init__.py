"""Starts workers, lets them meet, holds the deadlines, reaps them and clears away what they leave."""
