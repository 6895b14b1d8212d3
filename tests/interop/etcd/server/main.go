// Command server is etcd itself, of the version that go.mod names: what `embed` runs, with the
// command line of the etcd binary.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
