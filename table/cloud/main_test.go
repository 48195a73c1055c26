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

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// serverVariable makes a process of the tests the S3 server of another one.
const serverVariable = "SIEVETABLE_S3_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		serveS3()
		return
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// serveS3 is an S3 server, in memory, until standard input ends. It prints its address.
func serveS3() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	panic(http.Serve(l, gofakes3.New(s3mem.New(), gofakes3.WithAutoBucket(true)).Server()))
}

// stopServer ends the S3 server, if one was started.
var stopServer = func() {}

// s3Server starts the S3 server in a process of its own, once, and returns its address.
var s3Server = sync.OnceValue(func() string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"=1")
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
	stopServer = func() {
		in.Close()
		cmd.Wait()
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	return "http://" + strings.TrimSpace(address)
})
