"""Measurements that are run by hand. Nothing here is collected by pytest or asserts a time."""
