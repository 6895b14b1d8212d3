package main

import (
	"fmt"
	"sort"
)

// problems collects contradictions between the sources. Any entry makes the
// program fail, so that a new version is reviewed before it is committed.
type problems struct{ list []string }

// addf records one contradiction.
func (p *problems) addf(format string, args ...any) {
	p.list = append(p.list, fmt.Sprintf(format, args...))
}

// err returns the sorted contradictions as one error, or nil.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	sort.Strings(p.list)
	text := ""
	for _, l := range p.list {
		text += "\n  " + l
	}
	return fmt.Errorf("%d contradictions:%s", len(p.list), text)
}
