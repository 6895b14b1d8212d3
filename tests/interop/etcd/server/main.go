// Command server is etcd itself, in the version of go.mod, with the command line of the etcd
// binary.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
