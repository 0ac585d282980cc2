"""Stands in for ROS 2's own."""
