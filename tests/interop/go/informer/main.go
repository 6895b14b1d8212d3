// The informer program checks a Kubernetes API server with client-go's shared informer.
//
// It makes random writes to one kind of object while a shared informer follows. It succeeds only if
// the informer's cache and the events of its handler both equal a live list at the end. It prints
// the outcome as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	contentProtobuf = "application/vnd.kubernetes.protobuf"
	contentJSON     = "application/json"
	// The time limits for the informer to sync, and to catch up with the last write.
	syncLimit = 30 * time.Second
)

type options struct {
	kubeconfig string
	namespace  string
	resource   string
	content    string
	protocol   string
	writes     int
	before     int
	seed       int64
}

// outcome is the line that the program prints.
type outcome struct {
	OK           bool           `json:"ok"`
	Error        string         `json:"error,omitempty"`
	Resource     string         `json:"resource"`
	Content      string         `json:"content"`
	Protocol     string         `json:"protocol"`
	Seed         int64          `json:"seed"`
	Writes       map[string]int `json:"writes"`
	Conflicts    int            `json:"conflicts"`
	Events       map[string]int `json:"events"`
	Objects      int            `json:"objects"`
	Requests     map[string]int `json:"requests"`
	ContentTypes map[string]int `json:"contentTypes"`
	Protocols    map[string]int `json:"protocols"`
	Seconds      float64        `json:"seconds"`
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "file with the server's address and credentials")
	flag.StringVar(&o.namespace, "namespace", "default", "namespace of the writes; made if it is missing")
	flag.StringVar(&o.resource, "resource", "pods", "pods or configmaps")
	flag.StringVar(&o.content, "content", "protobuf", "protobuf or json")
	flag.StringVar(&o.protocol, "protocol", "h2", "h2 or http/1.1")
	flag.IntVar(&o.writes, "writes", 2000, "number of random writes")
	flag.IntVar(&o.before, "before", 200, "how many of the writes come before the informer starts")
	flag.Int64Var(&o.seed, "seed", 1, "seed of the writes")
	flag.Parse()

	start := time.Now()
	result := outcome{Resource: o.resource, Content: o.content, Protocol: o.protocol, Seed: o.seed}
	err := run(context.Background(), o, &result)
	result.OK = err == nil
	if err != nil {
		result.Error = err.Error()
	}
	result.Seconds = time.Since(start).Seconds()
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !result.OK {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, result *outcome) error {
	config, wire, err := configFor(o)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, clients, o.namespace); err != nil {
		return fmt.Errorf("namespace %s: %w", o.namespace, err)
	}
	target, err := targetFor(clients, o.resource, o.namespace)
	if err != nil {
		return err
	}
	writer := newWriter(target, o.seed)
	defer func() {
		result.Writes, result.Conflicts = writer.done, writer.conflicts
		result.Requests, result.ContentTypes, result.Protocols = wire.counts()
	}()
	if err := writer.write(ctx, o.before); err != nil {
		return fmt.Errorf("before the informer: %w", err)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ledger := newLedger()
	informer := target.informer()
	registration, err := informer.AddEventHandler(ledger)
	if err != nil {
		return err
	}
	go informer.Run(ctx.Done())
	synced, stop := context.WithTimeout(ctx, syncLimit)
	defer stop()
	if !cache.WaitForCacheSync(synced.Done(), informer.HasSynced, registration.HasSynced) {
		return fmt.Errorf("the informer did not sync in %s", syncLimit)
	}
	if err := writer.write(ctx, o.writes-o.before); err != nil {
		return fmt.Errorf("beside the informer: %w", err)
	}
	live, err := target.list(ctx)
	if err != nil {
		return fmt.Errorf("the live list: %w", err)
	}
	result.Objects = len(live)
	err = untilEqual(live, informer.GetStore(), ledger)
	result.Events = ledger.counts()
	if err != nil {
		return err
	}
	return wire.check(o)
}

func ensureNamespace(ctx context.Context, clients kubernetes.Interface, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := clients.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// configFor reads the kubeconfig and sets content type and protocol.
func configFor(o options) (*rest.Config, *wire, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	switch o.content {
	case "protobuf":
		config.ContentType = contentProtobuf
		config.AcceptContentTypes = contentProtobuf
	case "json":
		config.ContentType = contentJSON
		config.AcceptContentTypes = contentJSON
	default:
		return nil, nil, fmt.Errorf("content is protobuf or json, not %q", o.content)
	}
	switch o.protocol {
	case "h2":
	case "http/1.1":
		config.NextProtos = []string{"http/1.1"}
	default:
		return nil, nil, fmt.Errorf("protocol is h2 or http/1.1, not %q", o.protocol)
	}
	config.QPS = -1
	wire := newWire()
	config.Wrap(wire.wrap)
	return config, wire, nil
}
