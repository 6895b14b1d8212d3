package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

type queue = workqueue.TypedRateLimitingInterface[string]

func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.DefaultTypedControllerRateLimiter[string]())
}

// queues measures client-go's rate limiting work queue of strings.
func queues(arguments []string) error {
	set := flags("queue")
	items := set.Int("items", 1_000_000, "items that pass through")
	delayed := set.Int("delayed", 100_000, "items with a delay")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	distinct := make([]string, *items)
	for i := range distinct {
		distinct[i] = fmt.Sprintf("group-%02d/pod-%07d", i%50, i)
	}
	repeated := distinct[:max(*items/20, 1)]
	cases := []struct {
		name  string
		names []string
		run   func([]string, int) float64
	}{
		{"one thread", repeated, oneThread},
		{"1 producer, 4 workers, all different", distinct, produce(1, 4)},
		{"1 producer, 4 workers, names repeat", repeated, produce(1, 4)},
		{"8 producers, 8 workers, all different", distinct, produce(8, 8)},
	}
	for _, it := range cases {
		rate, err := median(3, func() (float64, error) { return it.run(it.names, *items), nil })
		if err != nil {
			return err
		}
		if err := emit(map[string]any{"case": it.name, "items_per_second": rate}); err != nil {
			return err
		}
	}
	return delays(distinct[:*delayed])
}

// oneThread adds, takes, forgets and finishes one item after another.
func oneThread(names []string, items int) float64 {
	q, start := newQueue(), cpu()
	defer q.ShutDown()
	for i := range items {
		q.Add(names[i%len(names)])
		name, _ := q.Get()
		q.Forget(name)
		q.Done(name)
	}
	return float64(items) / (cpu() - start)
}

// produce adds items on several goroutines while workers take them, until all are finished.
func produce(producers, workers int) func([]string, int) float64 {
	return func(names []string, items int) float64 {
		q, start := newQueue(), time.Now()
		var adding, working sync.WaitGroup
		for range workers {
			working.Go(func() {
				for {
					name, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Forget(name)
					q.Done(name)
				}
			})
		}
		for producer := range producers {
			adding.Go(func() {
				for i := producer; i < items; i += producers {
					q.Add(names[i%len(names)])
				}
			})
		}
		adding.Wait()
		q.ShutDownWithDrain()
		working.Wait()
		return float64(items) / time.Since(start).Seconds()
	}
}

// delays adds items that are due at different times within a second, and takes them as they become
// due.
func delays(names []string) error {
	q, before := newQueue(), now()
	defer q.ShutDown()
	var late atomic.Int64
	due := make(map[string]time.Time, len(names))
	for i, name := range names {
		wait := time.Duration(i*7919%1_000_000) * time.Microsecond
		due[name] = time.Now().Add(wait)
		q.AddAfter(name, wait)
	}
	added := now()
	for range names {
		name, _ := q.Get()
		late.Add(max(time.Since(due[name]).Microseconds(), 0))
		q.Forget(name)
		q.Done(name)
	}
	after := now()
	return emit(map[string]any{
		"case":              "delayed",
		"add_seconds":       added.at.Sub(before.at).Seconds(),
		"wall_seconds":      after.at.Sub(before.at).Seconds(),
		"cpu_seconds":       after.cpu - before.cpu,
		"late_microseconds": float64(late.Load()) / float64(len(names)),
	})
}
