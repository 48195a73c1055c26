package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The system's own names are not replaced, and none is added. That applies to the links that represent a process's
// files, whether regular or removed, and to links to these.
func TestNamesOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	open, err := os.Create(filepath.Join(dir, "open"))
	noError(t, err)
	defer open.Close()
	for _, when := range []string{"there", "removed"} {
		for i, name := range []string{
			fmt.Sprintf("/proc/self/fd/%d", open.Fd()),
			fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), open.Fd()),
			fmt.Sprintf("/dev/fd/%d", open.Fd()),
			"/dev/stdout", "/dev/stderr", "/dev/sievetable-none", "/dev/pts/none", "/proc/none", "/proc/self/none", "/proc/version",
		} {
			checkRefused(t, name, "not replaced")
			link := filepath.Join(dir, fmt.Sprint(when, i))
			symlink(t, name, link)
			checkRefused(t, link, "not replaced")
		}
		os.Remove(open.Name())
	}
	t.Chdir("/dev/fd")
	checkRefused(t, fmt.Sprint(open.Fd()), "not replaced")
}

// A link in /proc that leads out of it, and /dev/shm, are treated like other directories.
func TestDirectoriesByTheSystem(t *testing.T) {
	t.Parallel()
	dir, err := os.Open(t.TempDir())
	noError(t, err)
	defer dir.Close()
	for _, name := range []string{fmt.Sprintf("/proc/self/fd/%d/a.ldb", dir.Fd()), "/dev/shm/sievetable-none"} {
		if _, err := os.Stat(filepath.Dir(name)); err != nil {
			t.Skip(err)
		}
		if err := create(t, name).Abort(); err != nil {
			t.Error(err)
		}
	}
}
