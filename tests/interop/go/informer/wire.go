package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// wire counts requests by protocol and content type, so that a run which silently falls back to
// another one fails.
type wire struct {
	mu        sync.Mutex
	requests  map[string]int
	contents  map[string]int
	protocols map[string]int
}

func newWire() *wire {
	return &wire{
		requests:  map[string]int{},
		contents:  map[string]int{},
		protocols: map[string]int{},
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (w *wire) wrap(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := inner.RoundTrip(request)
		w.mu.Lock()
		defer w.mu.Unlock()
		name := verb(request)
		if err != nil {
			w.requests[name+" failed"]++
			return response, err
		}
		w.requests[fmt.Sprintf("%s %d", name, response.StatusCode)]++
		w.protocols[response.Proto]++
		content, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
		w.contents[content]++
		return response, nil
	})
}

// verb returns the API verb of a request.
func verb(request *http.Request) string {
	query := request.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		return "watch-list"
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		return "watch"
	default:
		return strings.ToLower(request.Method)
	}
}

func (w *wire) counts() (requests, contents, protocols map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.requests), maps.Clone(w.contents), maps.Clone(w.protocols)
}

// check fails if a request used another protocol or content type.
func (w *wire) check(o options) error {
	_, contents, protocols := w.counts()
	content := map[string]string{"protobuf": contentProtobuf, "json": contentJSON}[o.content]
	protocol := map[string]string{"h2": "HTTP/2.0", "http/1.1": "HTTP/1.1"}[o.protocol]
	if len(protocols) != 1 || protocols[protocol] == 0 {
		return fmt.Errorf("asked for %s, got %v", protocol, protocols)
	}
	if len(contents) != 1 || contents[content] == 0 {
		return fmt.Errorf("asked for %s, got %v", content, contents)
	}
	return nil
}
