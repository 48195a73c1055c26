package cloud_test

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
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// serverVariable makes a process of the tests the S3 server of another one. Its value is how long each
// request takes beside its work.
const serverVariable = "SIEVETABLE_S3_SERVER"

func TestMain(m *testing.M) {
	if delay, ok := os.LookupEnv(serverVariable); ok {
		serveS3(delay)
		return
	}
	code := m.Run()
	for _, stop := range stopServers {
		stop()
	}
	os.Exit(code)
}

// serveS3 is an S3 server, with its objects in memory, until standard input ends. It prints its address.
func serveS3(delay string) {
	wait, err := time.ParseDuration(delay)
	if err != nil {
		panic(err)
	}
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

// stopServers end the S3 servers that were started.
var stopServers []func()

// s3Server starts the S3 server of tests, once, and returns its address.
var s3Server = sync.OnceValue(func() string { return startServer(0) })

// startServer starts an S3 server in a process of its own, and returns its address.
func startServer(delay time.Duration) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+delay.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	stopServers = append(stopServers, func() {
		in.Close()
		cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	return "http://" + strings.TrimSpace(address)
}
