// Package differential records random operations of client-go and apimachinery.
//
// Each suite performs a sequence of operations from a seed on client-go's type, and writes every
// observable result as a line of JSON. Kubist's test `replay` performs the same operations on its
// own types and compares. The tests of this package write the traces.
package differential

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// suite performs operations on one type; it runs once for each seed.
type suite struct {
	name string
	run  func(t *testing.T, trace *trace)
}

// suites are all suites, by name.
var suites = []suite{
	{"indexer", runIndexer},
	{"delta-fifo", runDeltaFIFO},
	{"real-fifo", runRealFIFO},
	{"work-queue", runWorkQueue},
	{"rate-limiters", runRateLimiters},
	{"label-selectors", runLabelSelectors},
	{"field-selectors", runFieldSelectors},
	{"quantities", runQuantities},
	{"durations", runDurations},
	{"times", runTimes},
}

// trace is one sequence: its random numbers and its output.
type trace struct {
	*rand.Rand
	suite   string
	seed    uint64
	steps   int
	encoder *json.Encoder
	failed  error
	version int
}

// values are the inputs and results of operations.
type values = map[string]any

func newTrace(out io.Writer, name string, seed uint64, steps int) *trace {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	random := rand.New(rand.NewPCG(seed, hash.Sum64()))
	return &trace{Rand: random, suite: name, seed: seed, steps: steps, encoder: encoder}
}

// begin writes the first line of a sequence: the suite, the seed and the arguments of the
// constructor.
func (t *trace) begin(config any) {
	t.write(values{"suite": t.suite, "seed": t.seed, "config": config})
}

// op writes an operation, its arguments and its results.
func (t *trace) op(op string, in, out any) {
	line := values{"op": op, "out": out}
	if in != nil {
		line["in"] = in
	}
	t.write(line)
}

func (t *trace) write(line values) {
	if err := t.encoder.Encode(line); err != nil && t.failed == nil {
		t.failed = err
	}
}

// chance returns true with this percentage.
func (t *trace) chance(percent int) bool { return t.IntN(100) < percent }

// pick returns one of the choices.
func pick[T any](t *trace, choices ...T) T { return choices[t.IntN(len(choices))] }

// weighted returns one of the choices, with these weights.
type weighted struct {
	op     string
	weight int
}

func (t *trace) weigh(choices []weighted) string {
	total := 0
	for _, choice := range choices {
		total += choice.weight
	}
	draw := t.IntN(total)
	for _, choice := range choices {
		if draw -= choice.weight; draw < 0 {
			return choice.op
		}
	}
	panic("the weights add up")
}

// object is a version of an object. Its text in results is NAMESPACE/NAME@VERSION.
func (t *trace) object() (*metav1.PartialObjectMetadata, values) {
	return t.objectNamed(t.namespace(), t.name())
}

func (t *trace) namespace() string { return pick(t, "", "default", "default", "shop") }

func (t *trace) name() string { return fmt.Sprintf("n%d", t.IntN(8)) }

func (t *trace) objectNamed(
	namespace, name string,
) (*metav1.PartialObjectMetadata, values) {
	t.version++
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: fmt.Sprint(t.version),
		UID: types.UID(fmt.Sprintf("u%d", t.IntN(3))),
	}}
	for _, label := range []string{"app", "tags"} {
		if t.chance(60) {
			value := pick(t, "a", "b", "c", "")
			if label == "tags" {
				value = pick(t, "a.b", "b.c", "a.a", "c", "a.b.c", "")
			}
			metav1.SetMetaDataLabel(&object.ObjectMeta, label, value)
		}
	}
	return object, described(object)
}

func described(object *metav1.PartialObjectMetadata) values {
	in := values{"n": object.Name, "v": object.ResourceVersion, "u": object.UID}
	if object.Namespace != "" {
		in["ns"] = object.Namespace
	}
	if len(object.Labels) > 0 {
		in["l"] = object.Labels
	}
	return in
}

// text is the form of an object in results; a tombstone is `gone KEY` and the last known object.
func text(object any) string {
	switch object := object.(type) {
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("gone %s, was %s", slashed(object.Key), text(object.Obj))
	case *metav1.PartialObjectMetadata:
		return fmt.Sprintf("%s/%s@%s", object.Namespace, object.Name, object.ResourceVersion)
	case nil:
		return "nothing"
	default:
		return fmt.Sprintf("%T", object)
	}
}

// slashed is a key with its slash, also where there is no namespace.
func slashed(key string) string {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err.Error()
	}
	return namespace + "/" + name
}

// Record writes the traces of one suite for a range of seeds.
func Record(t *testing.T, out io.Writer, name string, first, seeds uint64, steps int) error {
	for _, suite := range suites {
		if suite.name != name {
			continue
		}
		buffered := bufio.NewWriterSize(out, 1<<20)
		for seed := first; seed < first+seeds; seed++ {
			trace := newTrace(buffered, name, seed, steps)
			suite.run(t, trace)
			if trace.failed != nil {
				return trace.failed
			}
		}
		return buffered.Flush()
	}
	return fmt.Errorf("there is no suite %q", name)
}

func (t *trace) versionText() string { return fmt.Sprint(t.version) }
