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
	noError(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

func dropPiece([]byte)        {}
func dropPart(int64, []byte)  {}
func dropCount(string, int64) {}
func dropOutput() output      { return output{dropPiece, dropPiece, dropCount} }
func newSorter() sorter       { return sorter{RunSize: 1 << 20, Rate: 1} }

// The error of a step names the cause and the place.
func TestStepErrorsSayWhere(t *testing.T) {
	sorts := func(file string) error {
		return (&sortLines{Sorter: newSorter()}).ProcessElement(t.Context(), file, dropPiece, dropPiece, dropCount)
	}
	adds := func(key, value string) error {
		s := newSorter()
		return s.add(t.Context(), []byte(key), []byte(value), dropOutput())
	}
	cuts := func(splits ...[]byte) error {
		return new(cut).ProcessElement(piecesOf(t, 1)[0], each(splits), dropPart, dropCount)
	}
	splits := func(target target, samples ...piece) error {
		return (&split{target, 1}).ProcessElement(t.Context(), nil, each(samples), dropPiece)
	}
	long := writeFile(t, "long.txt", "a\n"+strings.Repeat("k", maxKey+1)+"\nb\n")
	manifest := writeFile(t, set.ManifestName, "{}")
	layer := targetOf(t.TempDir())
	layer.Layer = true
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"sort no file":     {sorts("/missing"), []string{"/missing", "no such file"}},
		"sort a directory": {sorts(filepath.Dir(long)), []string{filepath.Dir(long), "is a directory"}},
		"sort a long line": {sorts(long), []string{long, "line 2 has more than 262144 bytes"}},
		"no file system":   {sorts("nofs://b/a"), []string{"nofs://b/a", "not registered"}},
		"long key":         {adds(strings.Repeat("k", maxKey+1), ""), []string{`"kkk`, "(262145 bytes)", "at most 262144"}},
		"long value":       {adds("a", strings.Repeat("v", maxValue+1)), []string{`key "a" has 16777217 bytes`}},
		"no splits":        {cuts(), []string{"splits are missing", "a worker failed"}},
		"changed splits":   {cuts([]byte("x")), []string{"corrupted in transit"}},
		"changed sample":   {splits(targetOf(t.TempDir()), []byte("x")), []string{"corrupted in transit"}},
		"another manifest": {splits(targetOf(filepath.Dir(manifest))),
			[]string{manifest, "remove it, or write to another directory"}},
		"no directory":     {splits(targetOf(long)), []string{long, "not a directory"}},
		"no set for layer": {splits(layer), []string{layer.Dir, "does not exist", "build one without Layer"}},
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

// Two values for a key are an error that names the key, whether they meet in a run or in pieces.
func TestTwoValuesAreAnError(t *testing.T) {
	for name, test := range map[string]struct {
		entries [][2]string // "-" removes
		want    string      // "" for no error
	}{
		"same":           {[][2]string{{"a", "1"}, {"b", ""}, {"a", "1"}, {"b", ""}}, ""},
		"different":      {[][2]string{{"a", "2"}, {"b", "2"}, {"a", "1"}}, `key "a" has two values, "1" and "2"`},
		"one is empty":   {[][2]string{{"a", ""}, {"a", "\x01"}}, `key "a" has two values, "" and "\x01"`},
		"removed, added": {[][2]string{{"a", "-"}, {"a", "1"}}, `key "a" is both added and removed by the layer`},
		"removed, empty": {[][2]string{{"a", ""}, {"b", ""}, {"b", "-"}}, `key "b" is both`},
		"removed twice":  {[][2]string{{"a", "-"}, {"a", "-"}}, ""},
	} {
		for _, perRun := range []int{1, len(test.entries)} {
			t.Run(name, func(t *testing.T) {
				err := mergeRuns(t, test.entries, perRun)
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("%d entries in a run: error %v, want %q", perRun, err, test.want)
				}
			})
		}
	}
}

// mergeRuns sorts entries in runs of that many, and merges the pieces.
func mergeRuns(t *testing.T, entries [][2]string, perRun int) error {
	s := newSorter()
	var m merger
	to := dropOutput()
	to.piece = func(p []byte) {
		if err := m.add(p); err != nil {
			t.Error(err)
		}
	}
	for i, e := range entries {
		s.Removals = e[1] == "-"
		if err := s.add(t.Context(), []byte(e[0]), []byte(e[1]), to); err != nil {
			return err
		}
		if (i+1)%perRun == 0 {
			if err := s.flush(t.Context(), to); err != nil {
				return err
			}
		}
	}
	return m.all(func(key, value []byte) error { return nil })
}

// A piece that is corrupted in transit is an error: its blocks have checksums.
func TestChangedPieceIsAnError(t *testing.T) {
	for name, change := range map[string]func(piece) piece{
		"bit":   func(p piece) piece { p[len(p)/2] ^= 1; return p },
		"short": func(p piece) piece { return p[:len(p)-1] },
		"empty": func(piece) piece { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			fn := &writeTable{targetOf(t.TempDir())}
			pieces := piecesOf(t, 3)
			pieces[1] = change(pieces[1])
			err := fn.ProcessElement(t.Context(), 0, each(pieces), func([]byte) { t.Error("a table is written") }, dropCount)
			if err == nil || !strings.HasPrefix(err.Error(), "setio: ") {
				t.Errorf("error %v, want one of setio", err)
			}
		})
	}
}

// If a table cannot be renamed to its final name, that is an error, and no temporary file is left.
func TestTakenNameIsAnError(t *testing.T) {
	dir, pieces := t.TempDir(), piecesOf(t, 2)
	write(t, dir, pieces)
	files, err := os.ReadDir(dir)
	noError(t, err)
	path := filepath.Join(dir, files[0].Name())
	noError(t, os.Remove(path))
	noError(t, os.Mkdir(path, 0o777))
	fn := &writeTable{targetOf(dir)}
	err = fn.ProcessElement(t.Context(), 7, each(pieces), func([]byte) { t.Error("a table is written") }, dropCount)
	if err == nil || !strings.HasPrefix(err.Error(), "setio: table 7: ") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the table and its file", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("files %v, error %v, want nothing but what was there, and the lease", files, err)
	}
}
