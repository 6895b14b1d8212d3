//! Connections to an API server: TLS, HTTP/2 and HTTP/1.1, authentication
