// Package s3test runs an S3 server in another process, for tests, behind a proxy that counts requests and injects
// faults. It is for the tests of this repository, and may change in any release.
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

// serverVariable turns a test process into the S3 server of another one. Its value is the delay added to each
// request.
const serverVariable = "SIEVETABLE_S3_SERVER"

// ServeIfAsked runs the server if [Start] has started this process. Call it first in TestMain.
func ServeIfAsked() {
	if delay, ok := os.LookupEnv(serverVariable); ok {
		wait, err := time.ParseDuration(delay)
		if err != nil {
			panic(err)
		}
		serve(wait)
	}
}

// serve runs an in-memory S3 server until standard input ends. It prints its address.
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

// inputs keeps the servers' standard inputs open until this process ends: the garbage collector would close them.
var inputs []io.Closer

// Server starts a server shared by all tests, and returns its URL.
var Server = sync.OnceValue(func() string { return Start(0) })

// Start starts an S3 server in a new process and returns its URL. It delays each request. The server ends when this
// process does.
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
