package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
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
		var out, errs bytes.Buffer
		status := runPut(func(*cobra.Command) error { return tt.err }, &out, &errs)
		if status != tt.status || (errs.Len() > 0) != (tt.message != "") || !strings.Contains(errs.String(), tt.message) {
			t.Errorf("%v: exit status %d, %q, want %d, %q", errors.Unwrap(tt.err), status, &errs, tt.status, tt.message)
		}
	}
}

// If the last output cannot be written, the command says so, whatever else has failed.
func TestOutputThatCannotBeFlushed(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	closed := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	damage := &table.CorruptionError{Err: errors.New("damaged")}
	for _, tt := range []struct {
		err, flush error
		status     int
		messages   []string
	}{
		{nil, full, ExitUsage, []string{full.Error()}},
		{ErrNegative, full, ExitUsage, []string{full.Error()}},
		{damage, full, ExitDamaged, []string{damage.Error(), full.Error()}},
		{errors.Join(damage, full), full, ExitDamaged, []string{damage.Error(), full.Error()}},
		{damage, closed, ExitDamaged, []string{damage.Error()}},
	} {
		var errs bytes.Buffer
		status := runPut(func(cmd *cobra.Command) error {
			io.WriteString(cmd.OutOrStdout(), "entries") // which stay in the buffer
			return tt.err
		}, failingWriter{tt.flush}, &errs)
		want := ""
		for _, message := range tt.messages {
			want += text.Program + ": " + message + "\n"
		}
		if status != tt.status || errs.String() != want {
			t.Errorf("%v, %v: exit status %d, %q, want %d, %q", tt.err, tt.flush, status, &errs, tt.status, want)
		}
	}
}

// runPut runs a program whose only command calls put.
func runPut(put func(*cobra.Command) error, stdout, stderr io.Writer) (status int) {
	command := func() *cobra.Command {
		return &cobra.Command{Use: "put", RunE: func(cmd *cobra.Command, _ []string) error { return put(cmd) }}
	}
	groups := []Group{{ID: "all", Title: "All:", Commands: Commands{"put": command}}}
	p := Program{Groups: groups, Check: func(*cobra.Command) error { return nil }}
	return p.Run([]string{"put"}, strings.NewReader(""), stdout, stderr)
}

// A failingWriter is full, or closed.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
