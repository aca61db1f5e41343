"""What a system can put around a worker or around the process that forks workers."""
