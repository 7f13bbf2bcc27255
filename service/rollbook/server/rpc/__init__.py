"""The gRPC API: a servicer for each service, layers around calls, and refusals."""
