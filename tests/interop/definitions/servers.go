package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// namespace is where namespaced objects are.
const namespace = "definitions"

// answerLimit is the time limit of a request.
const answerLimit = 60 * time.Second

// server is one of the two.
type server struct {
	url        string
	client     *http.Client
	kubeconfig string
	home       string
}

// answer is a server's response.
type answer struct {
	Code     int      `json:"code"`
	Warnings []string `json:"warnings,omitempty"`
	Body     any      `json:"body"`
}

// request is sent to both.
type request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Type   string `json:"type,omitempty"`
	Accept string `json:"accept,omitempty"`
	Body   string `json:"body,omitempty"`
}

// pair is the two servers.
type pair struct {
	theirs *server
	ours   *server
}

func newPair(theirs, ours, home string) (*pair, error) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return nil, err
	}
	left, err := newServer(theirs, home+"-theirs")
	if err != nil {
		return nil, err
	}
	right, err := newServer(ours, home+"-ours")
	if err != nil {
		return nil, err
	}
	return &pair{theirs: left, ours: right}, nil
}

func newServer(kubeconfig, home string) (*server, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Timeout = answerLimit
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	return &server{url: strings.TrimSuffix(config.Host, "/"), client: client, kubeconfig: kubeconfig, home: home}, nil
}

// send returns the response; a failed connection is one with code 0.
func (s *server) send(it request) answer {
	message, err := http.NewRequest(it.Method, s.url+it.Path, strings.NewReader(it.Body))
	if err != nil {
		return answer{Body: err.Error()}
	}
	accept := it.Accept
	if accept == "" {
		accept = "application/json"
	}
	message.Header.Set("Accept", accept)
	if it.Body != "" {
		kind := it.Type
		if kind == "" {
			kind = "application/json"
		}
		message.Header.Set("Content-Type", kind)
	}
	response, err := s.client.Do(message)
	if err != nil {
		return answer{Body: "no answer: " + strings.ReplaceAll(err.Error(), s.url, "")}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{Body: "no answer: " + err.Error()}
	}
	result := answer{Code: response.StatusCode, Warnings: response.Header.Values("Warning")}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if decoder.Decode(&result.Body) != nil {
		result.Body = string(content)
	}
	return result
}

// both sends a request to both at the same time.
func (p *pair) both(it request) (theirs, ours answer) {
	var wait sync.WaitGroup
	wait.Go(func() { theirs = p.theirs.send(it) })
	ours = p.ours.send(it)
	wait.Wait()
	return theirs, ours
}

func (p *pair) createNamespace() error {
	body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + namespace + `"}}`
	theirs, ours := p.both(request{Method: "POST", Path: "/api/v1/namespaces", Body: body})
	if theirs.Code != http.StatusCreated || ours.Code != http.StatusCreated {
		return fmt.Errorf("the namespace was not created: %v, %v", theirs, ours)
	}
	return nil
}

// output is what kubectl printed.
type output struct {
	Failed bool   `json:"failed"`
	Text   string `json:"text"`
	Errors string `json:"errors"`
}

// kubectl runs kubectl against a server.
func (s *server) kubectl(arguments ...string) output {
	command := exec.Command("kubectl", arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "HOME="+s.home)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	errors := strings.ReplaceAll(stderr.String(), s.url, "")
	return output{Failed: err != nil, Text: stdout.String(), Errors: errors}
}

// kubectls runs kubectl against both at the same time.
func (p *pair) kubectls(arguments ...string) (theirs, ours output) {
	var wait sync.WaitGroup
	wait.Go(func() { theirs = p.theirs.kubectl(arguments...) })
	ours = p.ours.kubectl(arguments...)
	wait.Wait()
	return theirs, ours
}

// stopwatch measures a step.
type stopwatch struct{ start time.Time }

func newStopwatch() stopwatch { return stopwatch{time.Now()} }

func (s stopwatch) elapsed() time.Duration { return time.Since(s.start).Round(100 * time.Millisecond) }
