//! What is around an object on the wire: envelope, negotiation, YAML, list and watch framing, patches
