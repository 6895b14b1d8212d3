// definitions compares how two API servers serve the CustomResourceDefinitions of well-known projects.
//
// It fetches the modules of modules.txt, applies their definitions with kubectl on both servers, and compares the stored definitions, the discovery and
// OpenAPI documents, and the output of "kubectl explain". Then it generates objects from the schemas, valid ones and mutations, sends them to both, and
// compares the answers.
//
// With -print it only prints definitions, and with -samples it only writes definitions and generated objects, for programs that need the same ones.
//
// It prints the counts of each project and the causes of differences as JSON. Each difference is a line on stderr and, up to a limit for each cause, a
// file with the request and both answers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// options are the command's flags.
type options struct {
	modules   string
	theirs    string
	ours      string
	work      string
	seed      int64
	mutations int
	limit     int
	only      string
	jobs      int
	print     string
	samples   string
	objects   int
}

func main() {
	var o options
	flag.StringVar(&o.modules, "modules", "modules.txt", "the list of modules")
	flag.StringVar(&o.theirs, "theirs", "", "a kube-apiserver's kubeconfig")
	flag.StringVar(&o.ours, "ours", "", "Kubist's kubeconfig")
	flag.StringVar(&o.work, "work", "", "an existing folder for manifests and differences")
	flag.Int64Var(&o.seed, "seed", 1, "the seed of objects and mutations")
	flag.IntVar(&o.mutations, "mutations", 20, "mutations of each object")
	flag.IntVar(&o.limit, "limit", 0, "definitions of each project, 0 for all")
	flag.StringVar(&o.only, "only", "", "only projects whose name contains this")
	flag.IntVar(&o.jobs, "jobs", 3, "kinds that are compared at the same time")
	flag.StringVar(&o.print, "print", "", "only print these definitions, separated by commas, as a JSON array")
	flag.StringVar(&o.samples, "samples", "", "only write definitions and objects into this folder")
	flag.IntVar(&o.objects, "objects", 10, "objects of each version that are written")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "definitions:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	projects, err := readProjects(o.modules)
	if err != nil {
		return err
	}
	if o.print != "" {
		return printDefinitions(projects, strings.Split(o.print, ","), os.Stdout)
	}
	if o.samples != "" {
		return writeSamples(projects, o)
	}
	pair, err := newPair(o.theirs, o.ours, filepath.Join(o.work, "home"))
	if err != nil {
		return err
	}
	report, err := newReport(filepath.Join(o.work, "differences"))
	if err != nil {
		return err
	}
	if err := pair.createNamespace(); err != nil {
		return err
	}
	known := map[string]bool{}
	var sections []*section
	for _, project := range projects {
		if !strings.Contains(project.name, o.only) {
			continue
		}
		if err := project.load(o.limit, known); err != nil {
			return fmt.Errorf("%s: %w", project.name, err)
		}
		counts := report.project(project.name)
		section := &section{pair: pair, report: report, counts: counts, project: project, options: o}
		if err := section.run(); err != nil {
			return fmt.Errorf("%s: %w", project.name, err)
		}
		sections = append(sections, section)
	}
	compareSwagger(pair, sections)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(report.result())
}

// section is the comparison of one project.
type section struct {
	pair    *pair
	report  *report
	counts  *counts
	project *project
	options options
}

func (s *section) run() error {
	steps := []struct {
		name string
		run  func() error
	}{
		{"apply", s.apply},
		{"documents", s.documents},
		{"objects", s.objects},
	}
	for _, step := range steps {
		watch := newStopwatch()
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %s took %s\n", s.project.name, step.name, watch.elapsed())
	}
	return nil
}
