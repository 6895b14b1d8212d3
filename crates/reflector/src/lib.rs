//! Keeps a queue in step with a server: list, watch, resume, relist
