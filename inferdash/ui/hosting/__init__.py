"""The server around the dashboard: documents, responses, heavy work, large files, and how it starts and stops."""
