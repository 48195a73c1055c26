//go:build unix

package regular

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Open does not block on a pipe without a writer or on a socket.
func TestOpenDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	for name, want := range map[string]string{pipe: "a named pipe", socket: "a socket"} {
		if _, _, err := Open(name); err == nil || !strings.HasSuffix(err.Error(), ": "+want+", not a regular file") {
			t.Errorf("Open = %v, want %s to be refused", err, want)
		}
	}
}

// Open does not block on a pipe that replaces a file at any moment.
func TestOpenOfWhatChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, file, pipe := filepath.Join(dir, "name"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	noError(t, os.WriteFile(file, nil, 0o666))
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	stop := make(chan bool)
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			os.Link([]string{file, pipe}[i%2], next)
			os.Rename(next, name)
			os.Remove(next) // a rename to the same file leaves it
		}
	})
	opened, refused := 0, 0
	for deadline := time.Now().Add(10 * time.Second); (opened < 1000 || refused < 1000) && time.Now().Before(deadline); {
		f, info, err := Open(name)
		if err != nil {
			refused++
			continue
		}
		if opened++; !info.Mode().IsRegular() {
			t.Errorf("opened %v", info.Mode())
		}
		f.Close()
	}
	close(stop)
	changing.Wait()
	t.Logf("%d opened, %d refused", opened, refused)
}
