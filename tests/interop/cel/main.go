// cel answers, for each line of JSON on standard input, what Kubernetes' CEL makes of an expression:
// the error of its compilation, its type, its estimated cost, its value or error, and its cost. With
// the argument `conformance` and a folder it prints the cases of the CEL specification as such
// questions, each with its answer; with `rules`, a number of repetitions and files it prints the rules
// of the definitions in them, with random objects. The tests `upstream*` of kubist-cel ask it.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"strconv"
)

// question is an expression with the variables that it may use.
type question struct {
	Expression string `json:"expression"`
	// Minor is the minor version of the environment, 36 if absent.
	Minor     uint   `json:"minor,omitempty"`
	Container string `json:"container,omitempty"`
	// Unchecked skips the type check.
	Unchecked bool `json:"unchecked,omitempty"`
	// CheckOnly skips the evaluation.
	CheckOnly bool `json:"checkOnly,omitempty"`
	// Types are the types of variables, as CEL formats them.
	Types map[string]string `json:"types,omitempty"`
	// Values are the values of variables, as `encode` encodes them.
	Values map[string]any `json:"values,omitempty"`
	// Schema is the structural schema of `self` and `oldSelf`.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Root reports whether the schema is the root of a resource.
	Root    bool `json:"root,omitempty"`
	Self    any  `json:"self,omitempty"`
	OldSelf any  `json:"oldSelf,omitempty"`
	// Limit is the cost limit, that of Kubernetes if absent.
	Limit uint64 `json:"limit,omitempty"`
	// Repeat evaluates that many times and reports the time.
	Repeat int `json:"repeat,omitempty"`
	// Policy are the variables of an expression of an admission policy.
	Policy policy `json:"policy,omitempty"`
}

// answer is what Kubernetes makes of a question.
type answer struct {
	Panic        string     `json:"panic,omitempty"`
	CompileError string     `json:"compileError,omitempty"`
	ProgramError string     `json:"programError,omitempty"`
	Type         string     `json:"type,omitempty"`
	Estimate     *[2]string `json:"estimate,omitempty"`
	// Outcomes are what evaluations led to.
	Outcomes           []outcome `json:"outcomes,omitempty"`
	Nanoseconds        int64     `json:"nanoseconds,omitempty"`
	CompileNanoseconds int64     `json:"compileNanoseconds,omitempty"`
}

// outcome is a value or an error, with what it cost.
type outcome struct {
	Value any     `json:"value,omitempty"`
	Error string  `json:"error,omitempty"`
	Cost  *uint64 `json:"cost,omitempty"`
}

func main() {
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	if len(os.Args) == 3 && os.Args[1] == "conformance" {
		if err := conformance(os.Args[2], encoder); err != nil {
			log.Fatal(err)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "rules" {
		repeat, err := strconv.Atoi(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		if err := rules(os.Args[3:], repeat, encoder); err != nil {
			log.Fatal(err)
		}
		return
	}
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		asked, err := decode(line)
		if err != nil {
			log.Fatal(err)
		}
		var out answer
		if asked.Policy != nil {
			out = asked.ofPolicy()
		} else {
			out = asked.answered(nil)
		}
		if err := encoder.Encode(out); err != nil {
			log.Fatal(err)
		}
		if input.Buffered() == 0 {
			output.Flush()
		}
	}
}
