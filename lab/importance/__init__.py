"""What importance weights a pipeline has learned."""
