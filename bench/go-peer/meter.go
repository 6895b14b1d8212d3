package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Memory and CPU count as settled when this much time takes less than settledCPU seconds.
const (
	settleStep = 200 * time.Millisecond
	settledCPU = 0.03
)

// usage is the resource usage of this process, as the kernel counts it.
type usage struct {
	at   time.Time
	cpu  float64
	rss  int64
	peak int64
}

func now() usage {
	return usage{
		at:   time.Now(),
		cpu:  cpu(),
		rss:  kilobytes("VmRSS:"),
		peak: kilobytes("VmHWM:"),
	}
}

func kilobytes(name string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, name); found {
			value, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return value
		}
	}
	return 0
}

// resetPeak resets the peak of resident memory.
func resetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// liveHeap is what is reachable, in bytes.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// settle waits until the process is idle.
func settle() {
	for {
		before := now().cpu
		time.Sleep(settleStep)
		if now().cpu-before < settledCPU {
			return
		}
	}
}

// phase is the line of one phase of the informer.
func phase(name string, objects int, before, after usage) map[string]any {
	return map[string]any{
		"phase":         name,
		"objects":       objects,
		"wall_seconds":  after.at.Sub(before.at).Seconds(),
		"cpu_seconds":   after.cpu - before.cpu,
		"rss_before_kb": before.rss,
		"rss_kb":        after.rss,
		"rss_growth_kb": max(after.rss-before.rss, 0),
		"peak_kb":       after.peak,
	}
}

// median runs a measurement this often and returns the median.
func median(rounds int, measure func() (float64, error)) (float64, error) {
	var values []float64
	for range rounds {
		value, err := measure()
		if err != nil {
			return 0, err
		}
		values = append(values, value)
	}
	return middle(values), nil
}

func middle(values []float64) float64 {
	// Few values: insertion is enough, and needs no import.
	for i := range values {
		for j := i; j > 0 && values[j] < values[j-1]; j-- {
			values[j], values[j-1] = values[j-1], values[j]
		}
	}
	return values[len(values)/2]
}

// cpu returns the CPU seconds of all threads, user and system, with those of the garbage collector.
func cpu() float64 {
	var used syscall.Rusage
	// It cannot fail for the own process.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	seconds := func(it syscall.Timeval) float64 { return float64(it.Sec) + float64(it.Usec)/1e6 }
	return seconds(used.Utime) + seconds(used.Stime)
}

// each returns the CPU nanoseconds for each of count since start, which is a result of cpu.
func each(start float64, count int) float64 {
	return (cpu() - start) * 1e9 / float64(count)
}

func must(found bool, format string, arguments ...any) error {
	if found {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}
