package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	// settleLimit bounds how long a definition may take to be established, and documents to be published.
	settleLimit = 30 * time.Second
	pause       = 200 * time.Millisecond
)

// apply applies the definitions with kubectl on the client, then on the server, and compares what kubectl prints and what is stored.
func (s *section) apply() error {
	folder := filepath.Join(s.options.work, "manifests", s.project.name)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, it := range s.project.definitions {
		s.counts.Definitions++
		s.counts.Kinds += len(it.versions)
		if it.calledWebhook {
			s.counts.Webhooks++
		}
		content, err := json.Marshal(it.object)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, it.name+".json"), content, 0o644); err != nil {
			return err
		}
	}
	if s.counts.Webhooks > 0 {
		fmt.Fprintf(os.Stderr, "%s: the conversion of %d definitions is set to None, since nothing serves their webhooks\n",
			s.project.name, s.counts.Webhooks)
	}
	ways := []struct {
		check     string
		arguments []string
	}{
		{"apply", []string{"apply", "-f", folder}},
		{"apply --server-side", []string{"apply", "--server-side", "--force-conflicts", "-f", folder}},
	}
	for _, way := range ways {
		theirs, ours := s.pair.kubectls(way.arguments...)
		s.printed(way.check, theirs, ours)
		for _, it := range s.project.definitions {
			s.stored(way.check, it)
		}
	}
	return nil
}

// printed compares what kubectl printed, line by line: a line is about one definition.
func (s *section) printed(check string, theirs, ours output) {
	left, right := lines(theirs), lines(ours)
	missing, extra := minus(left, right), minus(right, left)
	var result []found
	if theirs.Failed != ours.Failed || len(missing)+len(extra) > 0 {
		cause := "printed" + first(" missing ", missing) + first(" extra ", extra)
		result = []found{{cause, fmt.Sprintf("missing %q, extra %q", missing, extra)}}
	}
	s.report.compared(s.counts, check, s.project.name, result, func() any { return []output{theirs, ours} })
}

func lines(it output) []string {
	all := strings.Split(strings.TrimSpace(it.Text+"\n"+it.Errors), "\n")
	sort.Strings(all)
	return all
}

// stored waits until a definition is established or refused on both, and compares it.
func (s *section) stored(check string, it *definition) {
	get := request{Method: "GET", Path: definitionsPath + it.name}
	theirs, ours := s.pair.both(get)
	for watch := newStopwatch(); watch.elapsed() < settleLimit && !(isSettled(theirs) && isSettled(ours)); {
		time.Sleep(pause)
		theirs, ours = s.pair.both(get)
	}
	theirs.Body, ours.Body = cleanDefinition(theirs.Body), cleanDefinition(ours.Body)
	s.report.compared(s.counts, check, it.name, compareAnswers(theirs, ours, nil), func() any { return []answer{theirs, ours} })
}

// isSettled reports whether a definition is established or will not be.
func isSettled(it answer) bool {
	object, _ := it.Body.(map[string]any)
	list, _ := at(object, "status")["conditions"].([]any)
	for _, condition := range list {
		condition, _ := condition.(map[string]any)
		isGood := text(condition, "status") == "True"
		switch text(condition, "type") {
		case "Established":
			if isGood {
				return true
			}
		case "NamesAccepted":
			if !isGood {
				return true
			}
		}
	}
	return it.Code == 404
}

// cleanDefinition also leaves out the times of conditions.
func cleanDefinition(value any) any {
	object, is := value.(map[string]any)
	if is && object["status"] != nil {
		object["status"] = without(object["status"], true)
	}
	return value
}
