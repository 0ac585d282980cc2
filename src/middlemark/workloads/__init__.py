"""Make workloads from other sources: topologies of other tools, recordings, a running ROS 2."""
