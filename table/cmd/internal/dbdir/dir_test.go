package dbdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// While a database is in use, each listing can lack another table. Only what two listings in a row lack is missing. A
// log is missing only if the other files were the same.
func TestListUntilSame(t *testing.T) {
	t.Parallel()
	missing := func(paths ...string) (d Dir) {
		for _, path := range paths {
			d.Tables = append(d.Tables, File{Path: path, Missing: true})
		}
		return d
	}
	withoutLog := func(names ...string) Dir { return Dir{Damage: []error{errors.New("log")}, lacking: names} }
	for name, tt := range map[string]struct {
		listings []Dir
		want     []string
		calls    int
	}{
		"nothing":         {[]Dir{missing()}, nil, 1},
		"the same twice":  {[]Dir{missing("a"), missing("a")}, []string{"a"}, 2},
		"one, and others": {[]Dir{missing("a"), missing("b"), missing("b", "c"), missing()}, nil, 4},
		"dropped logs":    {[]Dir{withoutLog("4"), withoutLog("5"), missing()}, nil, 3},
		"a lost log":      {[]Dir{withoutLog("4"), withoutLog("5"), withoutLog("5")}, []string{"log", "5"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			d, err := listUntilSame("", func() (Dir, error) { calls++; return tt.listings[calls-1], nil })
			if diff := cmp.Diff(tt.want, d.lacks()); diff != "" || calls != tt.calls || err != nil {
				t.Errorf("%d calls, error %v, want %d; missing (-want +got):\n%s", calls, err, tt.calls, diff)
			}
		})
	}
}

// If another directory takes the name, it is listed, whatever the first listing returned.
func TestListOfReplacedDirectory(t *testing.T) {
	t.Parallel()
	for _, failed := range []error{nil, errors.New("half of each directory")} {
		dir := filepath.Join(t.TempDir(), "db")
		noError(t, os.Mkdir(dir, 0o777))
		calls := 0
		_, err := listUntilSame(dir, func() (Dir, error) {
			if calls++; calls > 1 {
				return Dir{Path: dir}, nil
			}
			noError(t, errors.Join(os.Rename(dir, dir+" aside"), os.Mkdir(dir, 0o777)))
			return Dir{}, failed
		})
		if err != nil || calls != 2 {
			t.Errorf("after %v: %d calls, error %v; want 2", failed, calls, err)
		}
	}
}
