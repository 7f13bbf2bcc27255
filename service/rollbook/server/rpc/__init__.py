"""The gRPC surface: a servicer for each service, the layers around calls, and refusals."""
