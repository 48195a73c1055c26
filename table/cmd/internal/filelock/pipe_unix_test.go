//go:build unix && !solaris && !aix

package filelock

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// If the name is not a regular file, Open returns an error without blocking.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, socket, sub := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "sub")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	errtest.NoError(t, os.Mkdir(sub, 0o777))
	for name, kind := range map[string]string{pipe: "a named pipe", socket: "a socket", sub: "a directory", os.DevNull: "a device"} {
		f, err := Open(name)
		if want := "lock " + name + ": " + kind + ", not a regular file: remove it"; f != nil || err == nil || err.Error() != want {
			t.Errorf("Open = %v, %v; want %q", f, err, want)
		}
	}
}
