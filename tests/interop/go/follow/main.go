// The follow program writes ConfigMaps to a Kubernetes API server while client-go's informer
// follows them over connections that are cut.
//
// It writes two views to files as JSON: the events of an uncut watch, which are the server's
// history, with a final list; and the events of the informer's handler, with the informer's cache.
// Another program can follow the same objects: the last one written is named `zz-end`.
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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// The last object.
	end = "zz-end"
	// The time limits for a follower to sync, and to reach the end.
	limit = 2 * time.Minute
)

type options struct {
	kubeconfig string
	cut        string
	namespace  string
	server     string
	client     string
	before     int
	writes     int
	pause      time.Duration
	seed       uint64
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "file for the writer")
	flag.StringVar(&o.cut, "cut", "", "file for the informer, whose connections are cut")
	flag.StringVar(&o.namespace, "namespace", "default", "namespace of the writes; made if missing")
	flag.StringVar(&o.server, "server", "server.json", "where the server's history goes")
	flag.StringVar(&o.client, "client", "client.json", "where the informer's history goes")
	flag.IntVar(&o.before, "before", 100, "writes before the informer starts")
	flag.IntVar(&o.writes, "writes", 1500, "writes that it follows")
	flag.DurationVar(&o.pause, "pause", 2*time.Millisecond, "pause after each write")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the writes")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
	defer cancel()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	clients, err := clientsFor(o.kubeconfig, nil)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	_, err = clients.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", o.namespace, err)
	}
	history, err := watchUncut(ctx, clients, o.namespace)
	if err != nil {
		return err
	}
	writer := newWriter(clients, o)
	if err := writer.write(ctx, o.before); err != nil {
		return err
	}
	follower, err := follow(ctx, o)
	if err != nil {
		return err
	}
	if err := writer.write(ctx, o.writes); err != nil {
		return err
	}
	if err := writer.end(ctx); err != nil {
		return err
	}
	for _, view := range []struct {
		view *view
		path string
	}{{history, o.server}, {follower, o.client}} {
		if err := view.view.writeTo(ctx, view.path); err != nil {
			return err
		}
	}
	return nil
}

func clientsFor(kubeconfig string, wrap func(*rest.Config)) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if wrap != nil {
		wrap(config)
	}
	return kubernetes.NewForConfig(config)
}

// watchUncut follows with a plain watch, and lists at the end.
func watchUncut(ctx context.Context, clients kubernetes.Interface, namespace string) (*view, error) {
	list, err := clients.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	view := newView()
	for _, object := range list.Items {
		view.set(&object)
	}
	watch, err := clients.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{
		ResourceVersion: list.ResourceVersion,
	})
	if err != nil {
		return nil, err
	}
	go func() {
		for event := range watch.ResultChan() {
			object, ok := event.Object.(*corev1.ConfigMap)
			switch {
			case !ok:
				view.fail(fmt.Errorf("the uncut watch has %v: %v", event.Type, event.Object))
				return
			case event.Type == "DELETED":
				view.delete(object)
			default:
				view.set(object)
			}
		}
		view.fail(fmt.Errorf("the uncut watch ended"))
	}()
	view.state = func(ctx context.Context) (map[string]held, error) {
		list, err := clients.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		state := map[string]held{}
		for _, object := range list.Items {
			state[object.Name] = heldOf(&object)
		}
		return state, nil
	}
	return view, nil
}

// follow starts the informer and waits until it has synced.
func follow(ctx context.Context, o options) (*view, error) {
	view := newView()
	clients, err := clientsFor(o.cut, func(config *rest.Config) { config.Wrap(view.countLists) })
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(
		clients, 0, informers.WithNamespace(o.namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	registration, err := informer.AddEventHandler(view)
	if err != nil {
		return nil, err
	}
	go informer.Run(ctx.Done())
	synced, stop := context.WithTimeout(ctx, limit)
	defer stop()
	if !cache.WaitForCacheSync(synced.Done(), informer.HasSynced, registration.HasSynced) {
		return nil, fmt.Errorf("the informer did not sync in %s", limit)
	}
	view.sync(informer.LastSyncResourceVersion())
	view.state = func(context.Context) (map[string]held, error) {
		state := map[string]held{}
		for _, object := range informer.GetStore().List() {
			state[object.(*corev1.ConfigMap).Name] = heldOf(object.(*corev1.ConfigMap))
		}
		return state, nil
	}
	return view, nil
}

func encode(path string, value any) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewEncoder(file).Encode(value)
}
