package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A link's target is replaced in its own directory, or created there. All links stay links.
func TestLinksAreFollowed(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"old", "missing"} {
		dir := t.TempDir()
		real, links := filepath.Join(dir, "real"), filepath.Join(dir, "links")
		mkdir(t, real)
		mkdir(t, links)
		writeOld(t, filepath.Join(real, "old"))
		for name, to := range map[string]string{
			"relative": filepath.Join("..", "real", target),
			"absolute": filepath.Join(real, target),
			"second":   "relative",
			"dir":      real,
			"up":       "dir/../links/absolute", // of the directory that dir leads to
		} {
			symlink(t, to, filepath.Join(links, name))
		}
		before := listing(t, links)
		for _, name := range []string{"relative", "absolute", "second", "up", filepath.Join("dir", target)} {
			f := create(t, filepath.Join(links, name))
			if _, err := f.Write([]byte(name)); err != nil {
				t.Fatal(err)
			}
			if temporary := listing(t, real); !strings.Contains(temporary, "sievetable-") {
				t.Errorf("%s: the temporary file is not beside the target, but %s", name, temporary)
			}
			if err := Commit(f); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got, err := os.ReadFile(filepath.Join(real, target)); err != nil || string(got) != name {
				t.Errorf("%s: the target is %q, %v", name, got, err)
			}
		}
		if diff := cmp.Diff(before, listing(t, links)); diff != "" {
			t.Errorf("the links (-want +got):\n%s", diff)
		}
	}
}

// If the target is not a regular file, the error has the given name.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "dir"))
	writeOld(t, filepath.Join(dir, "file"))
	for name, to := range map[string]string{"to device": os.DevNull, "to dir": "dir", "loop": "loop", "beyond": "no/such/dir"} {
		symlink(t, to, filepath.Join(dir, name))
	}
	before := listing(t, dir)
	for name, want := range map[string]string{
		"":                                   "not the name of a file",
		dir:                                  "a directory, not the name of a file",
		dir + "/":                            "not the name of a file",
		dir + "/dir/.":                       "a directory, not the name of a file",
		dir + "/dir/..":                      "not replaced",
		dir + "/to dir":                      "a directory, not the name of a file",
		os.DevNull:                           "not replaced",
		dir + "/to device":                   "not replaced",
		dir + "/loop":                        "too many links",
		dir + "/beyond":                      "no such file or directory",
		dir + "/no/file":                     "no such file or directory",
		dir + "/" + strings.Repeat("n", 300): "name too long",
		dir + "/file/in":                     "not a directory",
	} {
		checkRefused(t, name, want)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the directory (-want +got):\n%s", diff)
	}
}

func checkRefused(t *testing.T, name, want string) {
	t.Helper()
	f, err := Create(name)
	if err == nil {
		t.Errorf("Create(%q): no error", name)
		f.Abort()
		return
	}
	if prefix := fmt.Sprintf("create %q: ", name); !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) {
		t.Errorf("Create(%q) = %q, want %s … %s", name, err, prefix, want)
	}
	if got := errors.Is(err, ErrNotReplaced); got != (want == "not replaced") {
		t.Errorf("Create(%q) = %v; ErrNotReplaced: %t", name, err, got)
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	noError(t, os.Mkdir(name, 0o777))
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skip(err)
	}
}

// listing returns a directory's names and types, and the targets of links.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	var lines []string
	for _, e := range entries {
		to, _ := os.Readlink(filepath.Join(dir, e.Name()))
		lines = append(lines, fmt.Sprintln(e.Name(), e.Type(), to))
	}
	return strings.Join(lines, "")
}
