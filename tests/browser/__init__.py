"""The dashboard in a real Chromium. A package, so that its server and its browser end with its last test."""
