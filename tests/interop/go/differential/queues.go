package differential

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

var queueOps = []weighted{
	{"add", 14}, {"update", 16}, {"delete", 12}, {"replace", 5}, {"resync", 4}, {"pop", 30},
	{"close", 1},
}

// known holds the objects that the consumer of a DeltaFIFO has applied. Its keys are sorted: the
// order of a map would make the order of derived deltas random.
type known struct{ cache.Store }

func (k known) ListKeys() []string {
	keys := k.Store.ListKeys()
	slices.SortFunc(keys, func(left, right string) int { return cmp.Compare(slashed(left), slashed(right)) })
	return keys
}

// apply changes the store as informers do.
func (k known) apply(delta cache.Delta) error {
	if delta.Type == cache.Deleted {
		if gone, ok := delta.Object.(cache.DeletedFinalStateUnknown); ok {
			namespace, name, err := cache.SplitMetaNamespaceKey(gone.Key)
			if err != nil {
				return err
			}
			delta.Object = &metav1.PartialObjectMetadata{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			}
		}
		return k.Delete(delta.Object)
	}
	return k.Update(delta.Object)
}

// runDeltaFIFO operates on the queue that compresses by object.
func runDeltaFIFO(_ *testing.T, t *trace) {
	hasKnown, asSync := t.chance(75), t.chance(30)
	t.begin(values{"known": hasKnown, "list_as_sync": asSync})
	store := known{cache.NewStore(cache.MetaNamespaceKeyFunc)}
	options := cache.DeltaFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, EmitDeltaTypeReplaced: !asSync,
	}
	if hasKnown {
		options.KnownObjects = store
	}
	queue := cache.NewDeltaFIFOWithOptions(options)
	for range t.steps {
		op := t.weigh(queueOps)
		switch {
		case op != "pop":
			t.fill(queue, op)
		case waiting(queue, "queue") == 0:
			t.op("pop", nil, empty(queue.IsClosed()))
		default:
			initial := false
			popped, err := queue.Pop(func(item any, inInitialList bool) error {
				initial = inInitialList
				for _, delta := range item.(cache.Deltas) {
					if err := store.apply(delta); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				panic(err)
			}
			t.op("pop", nil, values{"initial": initial, "deltas": deltaTexts(popped.(cache.Deltas))})
		}
		t.op("state", nil, values{"names": waiting(queue, "queue"), "synced": queue.HasSynced()})
	}
}

// runRealFIFO operates on the queue that keeps every event, with atomic events, as informers use
// it.
func runRealFIFO(_ *testing.T, t *trace) {
	t.begin(values{})
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, AtomicEvents: true, EmitDeltaTypeBookmark: true,
		UnlockWhileProcessing: t.chance(50),
	})
	ops := append(slices.Clone(queueOps), weighted{"pop-batch", 30}, weighted{"bookmark", 4}, weighted{"many", 1})
	for range t.steps {
		op := t.weigh(ops)
		var popped cache.Deltas
		initial := false
		single := func(item any, inInitialList bool) error {
			popped, initial = item.(cache.Deltas), inInitialList
			return nil
		}
		batch := func(deltas []cache.Delta, inInitialList bool) error {
			popped, initial = deltas, inInitialList
			return nil
		}
		var err error
		switch {
		case op == "bookmark":
			t.version++
			err = queue.Bookmark(t.versionText())
			t.op(op, t.versionText(), nil)
		case op == "many":
			t.many(queue)
		case op != "pop" && op != "pop-batch":
			t.fill(queue, op)
		case waiting(queue, "items") == 0:
			t.op(op, nil, empty(queue.IsClosed()))
		default:
			if op == "pop" {
				_, err = queue.Pop(single)
			} else {
				err = queue.PopBatch(batch, single)
			}
			t.op(op, nil, values{"initial": initial, "deltas": deltaTexts(popped)})
		}
		if err != nil {
			panic(err)
		}
		t.op("state", nil, values{"deltas": waiting(queue, "items"), "synced": queue.HasSynced()})
	}
}

// fill changes a queue as reflectors do.
func (t *trace) fill(queue cache.Queue, op string) {
	var err error
	var in any
	switch op {
	case "replace":
		objects, described := t.list()
		items := []any{}
		for _, object := range objects {
			items = append(items, object)
		}
		t.version++
		in = values{"objects": described, "version": t.versionText()}
		err = queue.Replace(items, t.versionText())
	case "resync":
		err = queue.Resync()
	case "close":
		// Only late in the sequence; otherwise most sequences would end with a closed queue.
		if t.chance(50) {
			return
		}
		queue.Close()
	default:
		object, described := t.object()
		in = described
		switch op {
		case "add":
			err = queue.Add(object)
		case "update":
			err = queue.Update(object)
		case "delete":
			err = queue.Delete(object)
		}
	}
	if err != nil {
		panic(err)
	}
	t.op(op, in, nil)
}

// many adds more objects than a batch may have.
func (t *trace) many(queue cache.Queue) {
	count := 900 + t.IntN(1500)
	for i := range count {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("many-%d", i), ResourceVersion: fmt.Sprint(i + 1),
		}}
		if err := queue.Add(object); err != nil {
			panic(err)
		}
	}
	t.op("many", count, nil)
}

// waiting returns the length of an unexported slice of the queue.
func waiting(queue any, field string) int {
	return reflect.ValueOf(queue).Elem().FieldByName(field).Len()
}

func empty(closed bool) any {
	if closed {
		return "closed"
	}
	return "empty"
}

// deltaTextsMax is the most deltas of a line; a longer batch is reduced to its ends.
const deltaTextsMax = 40

func deltaTexts(deltas []cache.Delta) any {
	if count := len(deltas); count > deltaTextsMax {
		return []any{count, deltaText(deltas[0]), deltaText(deltas[count-1])}
	}
	found := []any{}
	for _, delta := range deltas {
		found = append(found, deltaText(delta))
	}
	return found
}

func deltaText(delta cache.Delta) string {
	switch object := delta.Object.(type) {
	case cache.ReplacedAllInfo:
		return fmt.Sprintf("ReplacedAll %v at %s", unsorted(object.Objects), object.ResourceVersion)
	case cache.BookmarkInfo:
		return "Bookmark " + object.ResourceVersion
	case cache.SyncAllInfo:
		return "SyncAll"
	}
	return fmt.Sprintf("%s %s", delta.Type, text(delta.Object))
}

func unsorted(objects []any) []string {
	found := []string{}
	for _, object := range objects {
		found = append(found, text(object))
	}
	return found
}
