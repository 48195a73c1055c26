//go:build unix

package setio_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// Nobody may ever write to a pipe that has the name of the manifest: to open it must not wait.
func TestManifestIsAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, set.ManifestName), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := setio.Sweep(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "a named pipe") {
		t.Errorf("error %v, want one of the pipe", err)
	}
}
