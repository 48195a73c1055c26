package setio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// writeFile writes a file in a new directory, and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The error of a step says what is wrong and where.
func TestStepErrorsSayWhere(t *testing.T) {
	samples := func(file string) error {
		return (&sample{Rate: 1}).ProcessElement(t.Context(), file, func([]byte) {})
	}
	sorts := func(file string, splits ...[]byte) error {
		return (&sortFile{RunSize: 1 << 20}).ProcessElement(t.Context(), file, each(splits), func(int64, []byte) {}, func(int64) {})
	}
	splits := func(dir string, samples int, files ...string) error {
		return (&split{Dir: dir, Rate: 1, EntriesPerTable: 1}).ProcessElement(nil, each(piecesOf(t, samples)), each(files), func([]byte) {})
	}
	long := writeFile(t, "long.txt", "a\n"+strings.Repeat("k", maxKey+1)+"\nb\n")
	manifest := writeFile(t, set.ManifestName, "{}")
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"sample no file":         {samples("/missing"), []string{"/missing", "no such file"}},
		"sample a directory":     {samples(filepath.Dir(long)), []string{filepath.Dir(long), "is a directory"}},
		"sample a long line":     {samples(long), []string{long, "line 2 has more than 262144 bytes"}},
		"sort a long line":       {sorts(long, piecesOf(t, 1)...), []string{long, "line 2 has more than 262144 bytes"}},
		"sort without splits":    {sorts(long), []string{"no splits", "a worker has failed"}},
		"sort by changed splits": {sorts(long, []byte("x")), []string{"changed on its way"}},
		"another manifest": {splits(filepath.Dir(manifest), 1, "a"),
			[]string{manifest, "remove it, or write to another directory"}},
		"no directory":  {splits(long, 1, "a"), []string{long, "not a directory"}},
		"a sample less": {splits(t.TempDir(), 1, "a", "b"), []string{"1 files are sampled, want 2", "a worker has failed"}},
		"no files":      {splits(t.TempDir(), 0), []string{"no files of lines"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range append(test.want, "setio: ") {
				if test.err == nil || !strings.Contains(test.err.Error(), want) {
					t.Errorf("error %v, want one that has %q", test.err, want)
				}
			}
		})
	}
}

// A piece that was changed on its way is an error: its blocks have checksums.
func TestChangedPieceIsAnError(t *testing.T) {
	for name, change := range map[string]func(piece) piece{
		"bit":   func(p piece) piece { p[len(p)/2] ^= 1; return p },
		"short": func(p piece) piece { return p[:len(p)-1] },
		"empty": func(piece) piece { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			fn := &writeTable{Dir: t.TempDir()}
			pieces := piecesOf(t, 3)
			pieces[1] = change(pieces[1])
			err := fn.ProcessElement(0, each(pieces), func([]byte) { t.Error("a table is written") })
			if err == nil || !strings.HasPrefix(err.Error(), "setio: ") {
				t.Errorf("error %v, want one of setio", err)
			}
		})
	}
}

// A table that cannot get its name is an error, and leaves no temporary file behind.
func TestTakenNameIsAnError(t *testing.T) {
	dir, pieces := t.TempDir(), piecesOf(t, 2)
	write(t, dir, pieces)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, files[0].Name())
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	err = (&writeTable{Dir: dir}).ProcessElement(7, each(pieces), func([]byte) { t.Error("a table is written") })
	if err == nil || !strings.HasPrefix(err.Error(), "setio: table 7: ") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the table and its file", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files %v, error %v, want nothing but what was there", files, err)
	}
}
