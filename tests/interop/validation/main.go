// Program validation computes what upstream's API server would store.
//
// It reads lines of JSON, each an object with `resource` and, for an update, `old`. For each it
// writes a line: the object with its defaults, and either the validation errors or the prepared
// object. Defaults, strategies and validation are those of k8s.io/kubernetes, called as its generic
// store calls them. Admission, storage and allocation are not included.
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
	// Upstream logs every error twice; the answers contain them.
	klog.SetLogger(logr.Discard())
	// As clusters usually set it: --allow-privileged.
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
