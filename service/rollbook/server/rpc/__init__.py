"""The gRPC surface: a servicer for each service, interceptors, and refusals."""
