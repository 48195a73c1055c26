package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A directoryStore is a directory to which sets are put. It contains the set ab.
type directoryStore struct {
	t    *testing.T
	dir  string
	sets map[string]string
}

func newDirectoryStore(t *testing.T) *directoryStore {
	t.Helper()
	d := &directoryStore{t, t.TempDir(), writeSets(t, "ab", "ac", "bd", "cd")}
	if status, out := d.run("put", d.sets["ab"]); status != 0 {
		t.Fatal(out)
	}
	return d
}

// run runs a command on the directory.
func (d *directoryStore) run(args ...string) (status int, output string) {
	var out bytes.Buffer
	status = Run(append(args, fileURL(d.dir)), strings.NewReader(""), &out, &out)
	return status, out.String()
}

// whileLocked runs a command while the directory's lock is held. The lock is released when meanwhile returns.
func (d *directoryStore) whileLocked(meanwhile func(), args ...string) (status int, output string) {
	d.t.Helper()
	l := flock.New(filepath.Join(d.dir, set.ManifestName+".lock"))
	noError(d.t, l.Lock())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		status, output = d.run(args...)
	}()
	meanwhile()
	noError(d.t, l.Close())
	<-ended
	return status, output
}

// table returns the stored path of a key's table.
func (d *directoryStore) table(key string) string {
	d.t.Helper()
	for keys, dir := range d.sets {
		files := set.NewDir(dir)
		m, err := files.ReadManifest()
		if err = errors.Join(err, files.Close()); err != nil {
			d.t.Fatal(err)
		}
		if i := strings.Index(keys, key); i >= 0 {
			return filepath.Join(d.dir, m.Tables[i].SHA256+".ldb")
		}
	}
	d.t.Fatalf("no set has %q", key)
	return ""
}

// waitFor waits until the table of a key exists.
func (d *directoryStore) waitFor(key string) {
	d.t.Helper()
	for {
		_, err := os.Stat(d.table(key))
		if err == nil {
			return
		}
		if !errors.Is(err, fs.ErrNotExist) || d.t.Context().Err() != nil {
			d.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// keys returns the keys that the manifest lists.
func (d *directoryStore) keys() string {
	d.t.Helper()
	file, err := os.ReadFile(filepath.Join(d.dir, set.ManifestName))
	noError(d.t, err)
	return keysOf(d.t, file)
}

// replace replaces the manifest by that of a set put elsewhere, like a program that holds the lock.
func (d *directoryStore) replace(keys string) {
	d.t.Helper()
	other := *d
	other.dir = d.t.TempDir()
	status, out := other.run("put", d.sets[keys])
	if status != 0 {
		d.t.Fatal(out)
	}
	noError(d.t, os.Rename(filepath.Join(other.dir, set.ManifestName), filepath.Join(d.dir, set.ManifestName)))
}

// A put to a directory holds its lock while it checks the store again and writes the manifest. It notices changes
// made before that.
func TestPutWhileDirectoryChanges(t *testing.T) {
	remove := func(key string) func(*directoryStore) error {
		return func(d *directoryStore) error { return os.Remove(d.table(key)) }
	}
	for _, tt := range []struct {
		name   string
		change func(*directoryStore) error
		status int
		output string
		keys   string
	}{
		{"nothing", func(*directoryStore) error { return nil }, cli.ExitOK, "uploaded        1 table", "ac"},
		{"a table that was there is deleted", remove("a"), cli.ExitOK, "uploaded        2 tables", "ac"},
		{"a table that was sent is deleted", remove("c"), cli.ExitOK, "uploaded        1 table", "ac"},
		{"another manifest", func(d *directoryStore) error { d.replace("bd"); return nil }, cli.ExitUsage, "another program has replaced this manifest", "bd"},
		{"no manifest", func(d *directoryStore) error { return os.Remove(filepath.Join(d.dir, set.ManifestName)) }, cli.ExitUsage, "another program has", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDirectoryStore(t)
			status, out := d.whileLocked(func() {
				d.waitFor("c")
				noError(t, tt.change(d))
			}, "put", d.sets["ac"])
			if status != tt.status || !strings.Contains(out, tt.output) {
				t.Errorf("exit status %d, want %d, and %q in %s", status, tt.status, tt.output, out)
			}
			if tt.keys == "" {
				return
			}
			if diff := cmp.Diff(tt.keys, d.keys()); diff != "" {
				t.Errorf("keys of the manifest (-want +got):\n%s", diff)
			}
			if status, out := d.run("verify"); status != cli.ExitOK && tt.status == cli.ExitOK {
				t.Errorf("verify: %s", out)
			}
		})
	}
}

// A sweep of a directory deletes nothing while another program holds the lock. Afterwards it uses the manifest that
// the other program has written.
func TestSweepWaitsForDirectory(t *testing.T) {
	d := newDirectoryStore(t)
	if status, out := d.run("put", d.sets["cd"]); status != cli.ExitOK {
		t.Fatal(out)
	}
	status, out := d.whileLocked(func() {
		time.Sleep(200 * time.Millisecond) // usually enough to reach the lock
		d.replace("ab")
	}, "sweep", "--delete", "--age", "0s")
	if status != cli.ExitOK || d.keys() != "ab" {
		t.Errorf("exit status %d, the manifest lists %q: %s", status, d.keys(), out)
	}
	if status, out := d.run("verify"); status != cli.ExitOK {
		t.Errorf("verify: %s", out)
	}
}

// If the lock file is a link or not a regular file, the command fails. No file is created where a link points.
func TestLockFileIsNoFile(t *testing.T) {
	for want, make := range map[string]func(name, elsewhere string) error{
		"a symbolic link": func(name, elsewhere string) error { return os.Symlink(elsewhere, name) },
		"a directory":     func(name, _ string) error { return os.Mkdir(name, 0o777) },
	} {
		d, elsewhere := newDirectoryStore(t), filepath.Join(t.TempDir(), "made")
		noError(t, make(filepath.Join(d.dir, set.ManifestName+".lock"), elsewhere))
		if status, out := d.run("put", d.sets["ac"]); status != 2 || !strings.Contains(out, want+", not a regular file: remove it") {
			t.Errorf("status %d, %s; want 2, and that the lock file is %s", status, out, want)
		}
		if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file was made where the link leads: %v", err)
		}
	}
}

// fileURL returns the URL of a directory, also on Windows, where a path starts with a drive.
func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}
