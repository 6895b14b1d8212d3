// Program validation answers what upstream's API server makes of an object before it is stored.
//
// It reads lines of JSON, each an object with `resource` and, for an update, `old`; and writes a
// line for each: the object with its defaults, and either the causes of the refusal or what
// preparation made of it. Defaults, strategies and checks are those of k8s.io/kubernetes, called as
// its generic store calls them. It admits nothing, stores nothing and allocates nothing.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/kubist-rs/kubist/tests/interop/validation/rules"
)

// lineMax bounds a request; the largest object that upstream's server takes is 3 MiB.
const lineMax = 8 << 20

func main() {
	// Upstream logs every mistake that it finds twice; the answers say what is to be said.
	klog.SetLogger(logr.Discard())
	// As clusters run it: --allow-privileged.
	capabilities.Setup(true, 0)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "validation:", err)
		os.Exit(1)
	}
}

func run() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 64<<10), lineMax)
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	for in.Scan() {
		var request rules.Request
		if err := json.Unmarshal(in.Bytes(), &request); err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if err := answers.Encode(rules.Check(&request)); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("reading requests: %w", err)
	}
	return out.Flush()
}
