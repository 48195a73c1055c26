package dbdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A file that must not be read is no damage: a repair would bring deleted keys back.
func TestNotPermitted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CURRENT", "MANIFEST-000001"} {
		dir := t.TempDir()
		noError(t, os.Chmod(filepath.Dir(dir), 0o755)) // only root can look into it before
		for name, contents := range map[string]string{"CURRENT": "MANIFEST-000001\n", "MANIFEST-000001": "", "000002.log": ""} {
			noError(t, os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o644))
		}
		noError(t, os.Chmod(filepath.Join(dir, name), 0))
		listed := make(chan error)
		go func() {
			runtime.LockOSThread() // to the end: the thread ends with it
			const nobody = 65534
			syscall.Setfsuid(nobody) // which root needs, and others do not
			_, err := ListDir(dir, ListOptions{Repair: true})
			listed <- err
		}()
		if err := <-listed; !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v, want fs.ErrPermission", name, err)
		}
	}
}
