"""A fake of ROS 2's package."""
