package differential

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

var workOps = []weighted{
	{"add", 25}, {"add-after", 10}, {"add-rate-limited", 8}, {"get", 25}, {"finish", 25},
	{"forget", 4}, {"sleep", 20}, {"shut-down", 1}, {"drain", 1},
}

// counts is the provider of the metrics that both sides have.
type counts struct {
	workqueue.MetricsProvider
	depth, adds, retries counter
}

type counter struct{ value int }

func (c *counter) Inc()                                             { c.value++ }
func (c *counter) Dec()                                             { c.value-- }
func (c *counter) Set(float64)                                      {}
func (c *counter) Observe(float64)                                  {}
func (c *counts) unused() *counter                                  { return &counter{} }
func (c *counts) NewDepthMetric(string) workqueue.GaugeMetric       { return &c.depth }
func (c *counts) NewAddsMetric(string) workqueue.CounterMetric      { return &c.adds }
func (c *counts) NewRetriesMetric(string) workqueue.CounterMetric   { return &c.retries }
func (c *counts) NewLatencyMetric(string) workqueue.HistogramMetric { return c.unused() }
func (c *counts) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return c.unused()
}
func (c *counts) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return c.unused()
}
func (c *counts) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return c.unused()
}

// work is a queue with its components and the items of its workers.
type work struct {
	base    *workqueue.Typed[string]
	queue   workqueue.TypedRateLimitingInterface[string]
	metrics *counts
	held    []string
	items   int
	drained chan struct{}
}

// runWorkQueue operates on a rate-limited queue, on virtual time. No two operations are at the same
// time, so no two items become ready at the same time.
func runWorkQueue(test *testing.T, t *trace) {
	synctest.Test(test, func(*testing.T) {
		config := limiterConfig{
			Kind: pick(t, "exponential", "max-of", "fast-slow"), Base: 5 * time.Millisecond,
			Max: pick(t, time.Second, 1000*time.Second), Fast: 7 * time.Millisecond,
			Slow: 3 * time.Second, Tries: 2, Rate: 10, Burst: 3,
		}
		t.begin(values{"limiter": config})
		work := newWork(config)
		for range t.steps {
			t.pass(time.Duration(1 + t.IntN(999_999)))
			t.workStep(work, t.weigh(workOps))
			synctest.Wait()
			t.op("state", nil, work.state())
		}
		work.shutDown()
	})
}

func newWork(config limiterConfig) *work {
	metrics := &counts{}
	base := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{
		Name: "differential", MetricsProvider: metrics,
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{
			Name: "differential", MetricsProvider: metrics, Queue: base,
		})
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(config.limiter(),
		workqueue.TypedRateLimitingQueueConfig[string]{DelayingQueue: delaying})
	return &work{base: base, queue: queue, metrics: metrics, items: 6}
}

// pass advances time.
func (t *trace) pass(span time.Duration) {
	time.Sleep(span)
	synctest.Wait()
	t.op("sleep", span, nil)
}

func (t *trace) workStep(work *work, op string) {
	item := fmt.Sprintf("i%d", t.IntN(work.items))
	switch op {
	case "add":
		work.queue.Add(item)
		t.op(op, item, nil)
	case "add-after":
		wait := t.span()
		work.queue.AddAfter(item, wait)
		t.op(op, values{"item": item, "wait": wait}, nil)
	case "add-rate-limited":
		work.queue.AddRateLimited(item)
		t.op(op, item, nil)
	case "get":
		if work.queue.Len() == 0 && !work.queue.ShuttingDown() {
			t.op(op, nil, "nothing")
			return
		}
		got, shutDown := work.queue.Get()
		if shutDown {
			t.op(op, nil, values{"again": work.again()})
			return
		}
		work.held = append(work.held, got)
		t.op(op, nil, values{"item": got, "failures": work.queue.NumRequeues(got)})
	case "finish":
		if len(work.held) > 0 {
			t.finish(work)
		}
	case "forget":
		work.queue.Forget(item)
		t.op(op, item, nil)
	case "sleep":
		t.pass(t.span())
	case "shut-down":
		if t.chance(50) {
			work.shutDown()
			t.op(op, nil, nil)
		}
	case "drain":
		if t.chance(70) && work.drained == nil {
			drained := make(chan struct{})
			work.drained = drained
			go func() {
				work.queue.ShutDownWithDrain()
				close(drained)
			}()
			synctest.Wait()
			t.op(op, nil, nil)
		}
	}
}

// finish ends a run in each way that a guard has: Done comes with Forget, or with a retry.
func (t *trace) finish(work *work) {
	place := t.IntN(len(work.held))
	item := work.held[place]
	work.held = slices.Delete(work.held, place, place+1)
	how := pick(t, "succeed", "succeed", "fail", "requeue")
	in := values{"item": item, "how": how}
	switch how {
	case "succeed":
		work.queue.Forget(item)
	case "fail":
		work.queue.AddRateLimited(item)
	case "requeue":
		wait := t.span()
		in["wait"] = wait
		work.queue.Forget(item)
		work.queue.AddAfter(item, wait)
	}
	synctest.Wait()
	work.queue.Done(item)
	t.op("finish", in, nil)
}

func (t *trace) span() time.Duration {
	unit := pick(t, time.Microsecond, time.Millisecond, time.Millisecond, 100*time.Millisecond, time.Second)
	return time.Duration(t.IntN(20)) * unit
}

// shutDown closes the queue. The outer queue forwards only the first call.
func (w *work) shutDown() {
	w.queue.ShutDown()
	w.base.ShutDown()
}

func (w *work) again() int {
	// Dirty items are those in the queue, and those that run and were added again.
	return reflect.ValueOf(w.base).Elem().FieldByName("dirty").Len() - w.queue.Len()
}

// state is the observable state of the queue, including the end of a drain.
func (w *work) state() values {
	failures := []int{}
	for i := range w.items {
		failures = append(failures, w.queue.NumRequeues(fmt.Sprintf("i%d", i)))
	}
	state := values{
		"len": w.queue.Len(), "failures": failures, "processing": len(w.held), "again": w.again(),
		"depth": w.metrics.depth.value, "adds": w.metrics.adds.value,
		"retries": w.metrics.retries.value, "closed": w.queue.ShuttingDown(),
	}
	if w.drained != nil {
		select {
		case <-w.drained:
			state["drained"] = true
		default:
			state["drained"] = false
		}
	}
	return state
}
