// The go-peer program runs client-go for `cargo xtask bench`.
//
// Its first argument selects the measurement. It prints one line of JSON for each phase or case, in
// the form of the Rust peers, and nothing else on standard output.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

var benchmarks = map[string]func([]string) error{
	"apply":    apply,
	"informer": informer,
	"cache":    caches,
	"queue":    queues,
	"fanout":   fanout,
}

func main() {
	if len(os.Args) < 2 || benchmarks[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go-peer apply|informer|cache|queue|fanout [flags]")
		os.Exit(2)
	}
	if err := benchmarks[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func flags(name string) *flag.FlagSet { return flag.NewFlagSet(name, flag.ExitOnError) }

// emit prints one line for `cargo xtask bench` to read.
func emit(line map[string]any) error { return json.NewEncoder(os.Stdout).Encode(line) }
