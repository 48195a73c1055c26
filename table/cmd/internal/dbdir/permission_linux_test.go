package dbdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// A file without read permission is not damage: a repair would bring back deleted keys.
func TestNotPermitted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CURRENT", "MANIFEST-000001"} {
		dir := filetest.WriteDir(t, map[string]string{"CURRENT": "MANIFEST-000001\n", "MANIFEST-000001": "", "000002.log": ""})
		noError(t, os.Chmod(filepath.Dir(dir), 0o755)) // before, only root can access it
		noError(t, os.Chmod(filepath.Join(dir, name), 0))
		listed := make(chan error)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			const nobody = 65534
			syscall.Setfsuid(nobody) // has an effect only if the test runs as root
			_, err := ListDir(dir, ListOptions{Repair: true})
			listed <- err
		}()
		if err := <-listed; !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v, want fs.ErrPermission", name, err)
		}
	}
}
