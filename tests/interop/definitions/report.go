package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// causesSeparator is between the causes of one comparison.
const causesSeparator = "\n"

// filesMax bounds the files of one cause.
const filesMax = 3

// counts are those of one project.
type counts struct {
	Name        string `json:"name"`
	Definitions int    `json:"definitions"`
	// Webhooks counts definitions whose conversion webhook was replaced by the strategy None.
	Webhooks int `json:"webhooks"`
	// Kinds counts served versions of kinds.
	Kinds int `json:"kinds"`
	// Objects counts generated objects, Accepted those that a kube-apiserver accepts.
	Objects  int `json:"objects"`
	Accepted int `json:"accepted"`
	// Mutations counts generated mutations, Refused those that a kube-apiserver refuses.
	Mutations int `json:"mutations"`
	Refused   int `json:"refused"`
	// Comparisons counts what was compared.
	Comparisons int `json:"comparisons"`
	// Differences counts comparisons that differ, by their causes.
	Differences map[string]int `json:"differences"`
}

// report collects the results.
type report struct {
	lock     sync.Mutex
	folder   string
	projects []*counts
	causes   map[string]int
	numbers  map[string]int
	examples map[string]string
}

// found is a difference. One with an empty cause is none.
type found struct {
	cause  string
	detail string
}

func newReport(folder string) (*report, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	err := os.MkdirAll(folder, 0o755)
	return &report{folder: folder, causes: map[string]int{}, numbers: map[string]int{}, examples: map[string]string{}}, err
}

func (r *report) project(name string) *counts {
	it := &counts{Name: name, Differences: map[string]int{}}
	r.projects = append(r.projects, it)
	return it
}

// add changes the counts.
func (r *report) add(change func()) {
	r.lock.Lock()
	defer r.lock.Unlock()
	change()
}

// compared records a comparison: what was compared, which check it was, its differences, and what a file of them has.
func (r *report) compared(counts *counts, check, what string, results []found, evidence func() any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	counts.Comparisons++
	var causes []string
	for _, it := range results {
		cause := check + ": " + it.cause
		causes = append(causes, cause)
		r.causes[cause]++
		count := r.causes[cause]
		file := ""
		if count == 1 {
			r.numbers[cause] = len(r.numbers) + 1
		}
		if count <= filesMax {
			file = r.write(cause, count, map[string]any{"what": what, "cause": cause, "detail": it.detail, "evidence": evidence()})
		}
		if count == 1 {
			r.examples[cause] = file
		}
		fmt.Fprintf(os.Stderr, "different: %s: %s: %s: %s\n", what, cause, line(it.detail), file)
	}
	if len(causes) > 0 {
		counts.Differences[strings.Join(causes, causesSeparator)]++
	}
}

// write writes a file and returns its name.
func (r *report) write(cause string, count int, content any) string {
	name := fmt.Sprintf("%03d-%d-%s.json", r.numbers[cause], count, slug(cause))
	encoded, err := json.MarshalIndent(content, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.folder, name), encoded, 0o644)
	}
	if err != nil {
		return err.Error()
	}
	return name
}

// cause is a line of the result.
type cause struct {
	Cause   string `json:"cause"`
	Count   int    `json:"count"`
	Example string `json:"example"`
}

// result returns the counts and causes.
func (r *report) result() any {
	causes := []cause{}
	for it, count := range r.causes {
		causes = append(causes, cause{it, count, r.examples[it]})
	}
	sort.Slice(causes, func(i, j int) bool {
		if causes[i].Count != causes[j].Count {
			return causes[i].Count > causes[j].Count
		}
		return causes[i].Cause < causes[j].Cause
	})
	return map[string]any{"projects": r.projects, "causes": causes}
}

// slug returns the beginning of a text as a part of a file name.
func slug(text string) string {
	keep := func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}
	text = strings.Map(keep, text)
	return text[:min(len(text), 60)]
}

// line returns the beginning of a text on one line.
func line(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	return text[:min(len(text), 300)]
}
