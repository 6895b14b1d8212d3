package differential

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// indexFunctions are the index functions that both sides have, by name.
var indexFunctions = cache.Indexers{
	"namespace": func(object any) ([]string, error) {
		return []string{object.(metav1.Object).GetNamespace()}, nil
	},
	"app": func(object any) ([]string, error) {
		if value, ok := object.(metav1.Object).GetLabels()["app"]; ok {
			return []string{value}, nil
		}
		return nil, nil
	},
	"tags": func(object any) ([]string, error) {
		if value, ok := object.(metav1.Object).GetLabels()["tags"]; ok {
			return strings.Split(value, "."), nil
		}
		return nil, nil
	},
	"all":  func(any) ([]string, error) { return []string{"x"}, nil },
	"none": func(any) ([]string, error) { return nil, nil },
}

var indexNames = slices.Sorted(maps.Keys(indexFunctions))

var indexerOps = []weighted{
	{"put", 30}, {"delete", 10}, {"delete-name", 3}, {"replace", 3}, {"bookmark", 2},
	{"transaction", 4}, {"get", 5}, {"list", 4}, {"by-index", 12}, {"index-keys", 8},
	{"index-values", 8}, {"index", 6}, {"add-index", 3},
}

// runIndexer operates on the store of indexers and informers.
func runIndexer(_ *testing.T, t *trace) {
	first := []string{}
	indexers := cache.Indexers{}
	for _, name := range indexNames {
		if t.chance(50) {
			first = append(first, name)
			indexers[name] = indexFunctions[name]
		}
	}
	t.begin(values{"indexes": first})
	store := cache.NewThreadSafeStore(indexers, cache.Indices{}).(cache.ThreadSafeStoreWithTransaction)
	for range t.steps {
		t.indexerStep(store, t.weigh(indexerOps))
		t.op("version", nil, store.LastStoreSyncResourceVersion())
	}
}

func (t *trace) indexerStep(store cache.ThreadSafeStoreWithTransaction, op string) {
	index := pick(t, indexNames...)
	value := pick(t, "a", "b", "c", "", "default", "shop", "x")
	switch op {
	case "put":
		object, in := t.object()
		if t.chance(10) {
			object.ResourceVersion, in["v"] = "", ""
		}
		store.Add(keyOf(object), object)
		t.op(op, in, nil)
	case "delete":
		object, in := t.object()
		store.DeleteWithObject(keyOf(object), object)
		t.op(op, in, nil)
	case "delete-name":
		object, in := t.object()
		store.Delete(keyOf(object))
		t.op(op, in, nil)
	case "replace":
		objects, in := t.list()
		items := map[string]any{}
		for _, object := range objects {
			items[keyOf(object)] = object
		}
		t.version++
		version := pick(t, t.versionText(), t.versionText(), "")
		store.Replace(items, version)
		t.op(op, values{"objects": in, "version": version}, nil)
	case "bookmark":
		t.version++
		store.Bookmark(t.versionText())
		t.op(op, t.versionText(), nil)
	case "transaction":
		t.transaction(store)
	case "get":
		object, in := t.object()
		found, _ := store.Get(keyOf(object))
		t.op(op, in, text(found))
	case "list":
		t.op(op, nil, texts(store.List()))
	case "by-index":
		found, err := store.ByIndex(index, value)
		t.op(op, values{"index": index, "value": value}, orError(texts(found), err))
	case "index-keys":
		found, err := store.IndexKeys(index, value)
		keys := []string{}
		for _, key := range found {
			keys = append(keys, slashed(key))
		}
		slices.Sort(keys)
		t.op(op, values{"index": index, "value": value}, orError(keys, err))
	case "index-values":
		found := store.ListIndexFuncValues(index)
		slices.Sort(found)
		t.op(op, values{"index": index}, found)
	case "index":
		object, in := t.object()
		found, err := store.Index(index, object)
		t.op(op, values{"index": index, "object": in}, orError(texts(found), err))
	case "add-index":
		err := store.AddIndexers(cache.Indexers{index: indexFunctions[index]})
		t.op(op, values{"index": index}, orError("added", err))
	}
}

func (t *trace) transaction(store cache.ThreadSafeStoreWithTransaction) {
	transactions := []cache.ThreadSafeStoreTransaction{}
	in := []values{}
	for range t.IntN(5) {
		object, described := t.object()
		kind := pick(t, cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete)
		transactions = append(transactions, cache.ThreadSafeStoreTransaction{
			Transaction: cache.Transaction{Object: object, Type: kind}, Key: keyOf(object),
		})
		described["t"] = kind
		in = append(in, described)
	}
	store.Transaction(transactions...)
	t.op("transaction", in, nil)
}

// list is a list response; a name occurs in it once.
func (t *trace) list() ([]*metav1.PartialObjectMetadata, []values) {
	objects, in := []*metav1.PartialObjectMetadata{}, []values{}
	seen := map[string]bool{}
	for range t.IntN(8) {
		object, described := t.object()
		if !seen[keyOf(object)] {
			seen[keyOf(object)] = true
			objects, in = append(objects, object), append(in, described)
		}
	}
	return objects, in
}

func keyOf(object *metav1.PartialObjectMetadata) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	return key
}

func texts(objects []any) []string {
	found := []string{}
	for _, object := range objects {
		found = append(found, text(object))
	}
	slices.Sort(found)
	return found
}

func orError(out any, err error) any {
	if err != nil {
		return values{"error": err.Error()}
	}
	return out
}
