package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// If the reader of its output has gone, a command ends as by SIGPIPE, without a message. A closed network
// connection is reported like other errors.
func TestClosedPipe(t *testing.T) {
	output := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	connection := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	for _, tt := range []struct {
		err     error
		status  int
		message string
	}{
		{output, 128 + int(syscall.SIGPIPE), ""},
		{connection, ExitUsage, "broken pipe"},
		{&fs.PathError{Op: "read", Path: "s3://lists/set.jsonl", Err: connection}, ExitUsage, "broken pipe"},
	} {
		command := func() *cobra.Command {
			return &cobra.Command{Use: "put", RunE: func(*cobra.Command, []string) error { return tt.err }}
		}
		groups := []Group{{ID: "all", Title: "All:", Commands: Commands{"put": command}}}
		p := Program{Groups: groups, Check: func(*cobra.Command) error { return nil }}
		var out, errs bytes.Buffer
		status := p.Run([]string{"put"}, strings.NewReader(""), &out, &errs)
		if status != tt.status || (errs.Len() > 0) != (tt.message != "") || !strings.Contains(errs.String(), tt.message) {
			t.Errorf("%v: exit status %d, %q, want %d, %q", errors.Unwrap(tt.err), status, &errs, tt.status, tt.message)
		}
	}
}
