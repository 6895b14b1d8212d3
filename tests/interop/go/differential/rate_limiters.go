package differential

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// limiterConfig selects the limiter; durations are in nanoseconds.
type limiterConfig struct {
	Kind  string        `json:"kind"`
	Base  time.Duration `json:"base"`
	Max   time.Duration `json:"max"`
	Fast  time.Duration `json:"fast"`
	Slow  time.Duration `json:"slow"`
	Tries int           `json:"tries"`
	Rate  int           `json:"rate"`
	Burst int           `json:"burst"`
}

type limiter = workqueue.TypedRateLimiter[string]

func (c limiterConfig) limiter() limiter {
	exponential := workqueue.NewTypedItemExponentialFailureRateLimiter[string](c.Base, c.Max)
	bucket := &workqueue.TypedBucketRateLimiter[string]{
		Limiter: rate.NewLimiter(rate.Limit(c.Rate), c.Burst),
	}
	fastSlow := workqueue.NewTypedItemFastSlowRateLimiter[string](c.Fast, c.Slow, c.Tries)
	switch c.Kind {
	case "exponential":
		return exponential
	case "bucket":
		return bucket
	case "fast-slow":
		return fastSlow
	case "max-of":
		return workqueue.NewTypedMaxOfRateLimiter(exponential, bucket, fastSlow)
	case "at-most":
		return workqueue.NewTypedWithMaxWaitRateLimiter(exponential, c.Slow)
	default:
		return workqueue.DefaultTypedControllerRateLimiter[string]()
	}
}

// runRateLimiters computes waits of limiters, on virtual time.
func runRateLimiters(test *testing.T, t *trace) {
	synctest.Test(test, func(*testing.T) {
		config := limiterConfig{
			Kind: pick(t, "exponential", "bucket", "fast-slow", "max-of", "at-most", "default"),
			// Not a power of two: upstream's waits are negative at exactly 2^63.
			Base: pick(t, 3, time.Microsecond, 5*time.Millisecond, time.Second),
			Max:  pick(t, time.Second, 1000*time.Second, 1<<62),
			Fast: 5 * time.Millisecond, Slow: pick(t, time.Second, 10*time.Second),
			Tries: t.IntN(5), Rate: pick(t, 1, 2, 5, 10, 100), Burst: 1 + t.IntN(10),
		}
		t.begin(values{"limiter": config})
		limiter := config.limiter()
		for range t.steps {
			item := pick(t, "a", "a", "a", "b", "c")
			switch draw := t.IntN(100); {
			case draw < 65:
				t.op("when", item, limiter.When(item))
			case draw < 67:
				// Long enough for every power to overflow.
				waits := []time.Duration{}
				for range 100 {
					waits = append(waits, limiter.When(item))
				}
				t.op("when-100", item, waits)
			case draw < 75:
				limiter.Forget(item)
				t.op("forget", item, nil)
			default:
				t.pass(t.span())
			}
			if config.Kind != "bucket" {
				t.op("failures", item, limiter.NumRequeues(item))
			}
		}
	})
}
