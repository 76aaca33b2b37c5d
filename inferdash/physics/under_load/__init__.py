"""Requests that share a replica: batches, a steady load, a closed loop, prefill and decode apart."""
