"""What the tests share: private servers, the system's parts, tokens, clients, and patience with a deadline."""
