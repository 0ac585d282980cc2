"""Make workloads from other sources: topologies of other tools, recordings, or a running ROS 2."""
