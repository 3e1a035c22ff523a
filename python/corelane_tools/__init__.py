"""What `corelane` needs Python frameworks for. Called by its commands, each as `python -m corelane_tools.X`."""
