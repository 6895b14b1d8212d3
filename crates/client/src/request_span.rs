//! The span of a request, and its context in the request's headers.

use http::Request;
use tracing::Span;
use tracing::field::Empty;

/// Returns a span around a request and its retries, with the field names of OpenTelemetry's
/// conventions for HTTP clients.
pub(crate) fn request_span<B>(request: &Request<B>) -> Span {
    tracing::debug_span!(
        "request",
        otel.kind = "client",
        http.request.method = %request.method(),
        url.path = request.uri().path(),
        http.response.status_code = Empty,
    )
}

/// Writes the span's context into the headers (`traceparent`), in the form of the program's
/// propagator. If the span is filtered out, that of the span around it.
#[cfg(feature = "opentelemetry")]
pub(crate) fn inject<B>(span: &Span, request: &mut Request<B>) {
    use opentelemetry::propagation::Injector;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    struct Headers<'a>(&'a mut http::HeaderMap);

    impl Injector for Headers<'_> {
        fn set(&mut self, key: &str, value: String) {
            let name = http::HeaderName::try_from(key);
            let value = http::HeaderValue::try_from(value);
            if let (Ok(name), Ok(value)) = (name, value) {
                self.0.insert(name, value);
            }
        }
    }

    let context = if span.is_disabled() {
        Span::current().context()
    } else {
        span.context()
    };
    opentelemetry::global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut Headers(request.headers_mut()));
    });
}
