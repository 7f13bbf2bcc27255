"""Messages, frames and files about matches that leave the service."""
