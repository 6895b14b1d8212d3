package differential

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var (
	out   = flag.String("out", "", "folder for the traces, one file for each suite; none without")
	first = flag.Uint64("first", 1, "first seed")
	seeds = flag.Uint64("seeds", 100, "number of seeds")
	steps = flag.Int("steps", 60, "operations of each sequence")
)

// TestRecord writes the traces. (It is a test because Go has virtual time in tests only.) `cargo
// xtask interop` runs it. The committed traces come from
//
//	go test ./differential -args -seeds 3 -steps 45 -out ../../../differential/testdata/traces
func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("no -out")
	}
	for _, suite := range suites {
		t.Run(suite.name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(*out, suite.name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := Record(t, file, suite.name, *first, *seeds, *steps); err != nil {
				t.Fatal(err)
			}
		})
	}
}
