// Package s3test has a server like S3 in another process, for tests, and a proxy before it that counts
// requests and spoils answers. It is for the tests of this repository, and may change in any release.
package s3test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// serverVariable makes a process of the tests the S3 server of another one. Its value is how long each
// request takes beside its work.
const serverVariable = "SIEVETABLE_S3_SERVER"

// ServeIfAsked is the server, if [Start] has started this process for it. TestMain calls it first.
func ServeIfAsked() {
	if delay, ok := os.LookupEnv(serverVariable); ok {
		wait, err := time.ParseDuration(delay)
		if err != nil {
			panic(err)
		}
		serve(wait)
	}
}

// serve is an S3 server, with its objects in memory, until standard input ends. It prints its address.
func serve(wait time.Duration) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := gofakes3.New(s3mem.New(), gofakes3.WithAutoBucket(true)).Server()
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(wait)
		server.ServeHTTP(w, r)
	})))
}

// inputs are what the servers read. They end with this process: the garbage collector would close those
// that nothing has.
var inputs []io.Closer

// Server starts the server of tests, once, and returns its address.
var Server = sync.OnceValue(func() string { return Start(0) })

// Start starts an S3 server in a process of its own, and returns its address. Each request takes delay
// beside its work. The server ends when this process does.
func Start(delay time.Duration) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+delay.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	inputs = append(inputs, in)
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	return "http://" + strings.TrimSpace(address)
}
