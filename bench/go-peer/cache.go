package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
)

const (
	// How often each case is measured; the median counts.
	rounds = 5
	// Look-ups by name in a round.
	gets = 400_000
	// Look-ups go from a Pod to the one this many places on, in every system.
	stride = 7919
	// Goroutines that read during writes.
	readers = 2
)

// set has the benchmark's objects in two versions each, with the queries that find them.
type set struct {
	first, second []*corev1.Pod
	keys, nodes   []string
}

// caches measures client-go's indexer with an index by namespace and one by node.
func caches(arguments []string) error {
	parsed := flags("cache")
	file := parsed.String("pods", "", "file with a Pod as JSON in each line")
	seconds := parsed.Float64("seconds", 2, "how long readers run beside the writer")
	selector := parsed.String("selector", "", "the label selector to select by")
	if err := parsed.Parse(arguments); err != nil {
		return err
	}
	objects, err := load(*file)
	if err != nil {
		return err
	}
	chosen, err := labels.Parse(*selector)
	if err != nil {
		return err
	}
	store := filled(objects.first)
	cases := []struct {
		name    string
		measure func() (float64, error)
	}{
		{"replace", objects.replace},
		{"add", objects.add},
		{"update", objects.update},
		{"get", func() (float64, error) { return objects.get(store) }},
		{"get and read", func() (float64, error) { return objects.getAndRead(store) }},
		{"by-index", func() (float64, error) { return objects.byIndex(store) }},
		{"select", func() (float64, error) { return choose(store, chosen) }},
	}
	for _, it := range cases {
		nanoseconds, err := median(rounds, it.measure)
		if err != nil {
			return fmt.Errorf("%s: %w", it.name, err)
		}
		if err := emit(map[string]any{"case": it.name, "nanoseconds": nanoseconds}); err != nil {
			return err
		}
	}
	return objects.readersBesideWriter(time.Duration(*seconds * float64(time.Second)))
}

func load(path string) (*set, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	objects, nodes := &set{}, map[string]bool{}
	decoder := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for decoder.More() {
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return nil, err
		}
		// Each state is decoded, as from a watch: they share nothing.
		pod, second := &corev1.Pod{}, &corev1.Pod{}
		for _, state := range []*corev1.Pod{pod, second} {
			if err := json.Unmarshal(text, state); err != nil {
				return nil, err
			}
		}
		second.ResourceVersion += "1"
		objects.first = append(objects.first, pod)
		objects.second = append(objects.second, second)
		objects.keys = append(objects.keys, pod.Namespace+"/"+pod.Name)
		nodes[pod.Spec.NodeName] = true
	}
	for node := range nodes {
		objects.nodes = append(objects.nodes, node)
	}
	return objects, must(len(objects.first) > 0, "%s has no Pods", path)
}

func empty() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		nodeIndex:            nodeOf,
	})
}

func filled(pods []*corev1.Pod) cache.Indexer {
	store := empty()
	for _, pod := range pods {
		store.Add(pod)
	}
	return store
}

func (s *set) replace() (float64, error) {
	store, list := empty(), make([]any, 0, len(s.first))
	for _, pod := range s.first {
		list = append(list, pod)
	}
	start := cpu()
	err := store.Replace(list, "1")
	return each(start, len(s.first)), err
}

func (s *set) add() (float64, error) {
	store, start := empty(), cpu()
	for _, pod := range s.first {
		if err := store.Add(pod); err != nil {
			return 0, err
		}
	}
	return each(start, len(s.first)), nil
}

func (s *set) update() (float64, error) {
	store := filled(s.first)
	start := cpu()
	for _, pod := range s.second {
		if err := store.Update(pod); err != nil {
			return 0, err
		}
	}
	return each(start, len(s.second)), nil
}

// key is the name of a look-up.
func (s *set) key(number int) string {
	return s.keys[number*stride%len(s.keys)]
}

// getAndRead also reads a field of each object, as callers do.
func (s *set) getAndRead(store cache.Indexer) (float64, error) {
	start, read := cpu(), 0
	for i := range gets {
		found, _, err := store.GetByKey(s.key(i))
		if err != nil {
			return 0, err
		}
		read += len(found.(*corev1.Pod).ResourceVersion)
	}
	return each(start, gets), must(read > 0, "nothing was read")
}

func (s *set) get(store cache.Indexer) (float64, error) {
	start := cpu()
	for i := range gets {
		if _, found, err := store.GetByKey(s.key(i)); err != nil || !found {
			return 0, fmt.Errorf("%s is missing: %w", s.key(i), err)
		}
	}
	return each(start, gets), nil
}

func (s *set) byIndex(store cache.Indexer) (float64, error) {
	start, found := cpu(), 0
	const times = 20
	for range times {
		for _, node := range s.nodes {
			objects, err := store.ByIndex(nodeIndex, node)
			if err != nil {
				return 0, err
			}
			found += len(objects)
		}
	}
	return each(start, times*len(s.nodes)), must(found == times*len(s.first), "found %d", found)
}

func choose(store cache.Indexer, selector labels.Selector) (float64, error) {
	start, found := cpu(), 0
	const times = 10
	for range times {
		err := cache.ListAll(store, selector, func(any) { found++ })
		if err != nil {
			return 0, err
		}
	}
	return each(start, times), must(found > 0, "%s selects nothing", selector)
}

func (s *set) readersBesideWriter(limit time.Duration) error {
	store := filled(s.first)
	var reads, stop atomic.Int64
	var group sync.WaitGroup
	for reader := range readers {
		group.Go(func() {
			count := 0
			for stop.Load() == 0 {
				store.GetByKey(s.keys[(reader*len(s.keys)/readers+count)%len(s.keys)])
				count++
			}
			reads.Add(int64(count))
		})
	}
	start, writes := time.Now(), 0
	for time.Since(start) < limit {
		pods := s.first
		if writes/len(s.first)%2 == 0 {
			pods = s.second
		}
		store.Update(pods[writes%len(pods)])
		writes++
	}
	stop.Store(1)
	group.Wait()
	seconds := time.Since(start).Seconds()
	return emit(map[string]any{
		"case":              "readers",
		"reads_per_second":  float64(reads.Load()) / seconds,
		"writes_per_second": float64(writes) / seconds,
	})
}
