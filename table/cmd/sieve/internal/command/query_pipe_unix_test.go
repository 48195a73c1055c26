//go:build unix && !solaris && !aix

package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A key from a named pipe is printed at once, like one from standard input.
func TestQueryOfNamedPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, pipe, filter := filepath.Join(dir, "list"), filepath.Join(dir, "pipe"), filepath.Join(dir, "list.filter")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	noError(t, os.WriteFile(list, []byte("a\n"), 0o666))
	mustSieve(t, "build", "-o", filter, list)
	answers, out, err := os.Pipe()
	noError(t, err)
	defer answers.Close()
	done := make(chan int)
	go func() {
		defer out.Close()
		done <- Run([]string{"query", filter, "--keys-from", pipe}, strings.NewReader(""), out, io.Discard)
	}()
	keys, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	noError(t, err)
	io.WriteString(keys, "a\n")
	answers.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(answers, make([]byte, 2)); err != nil {
		t.Errorf("no answer while the pipe is open: %v", err)
	}
	keys.Close()
	if status := <-done; status != 0 {
		t.Errorf("status %d", status)
	}
}
