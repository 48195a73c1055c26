package setio

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/set"
)

var noError = errtest.NoError

// each returns an iterator over the elements, as Beam passes to a step.
func each[E any](elements []E) func(*E) bool {
	return func(e *E) bool {
		if len(elements) == 0 {
			return false
		}
		*e, elements = elements[0], elements[1:]
		return true
	}
}

// A count is an element of the ledger.
type count struct {
	what string
	n    int64
}

// eachCount returns an iterator over the ledger, as Beam passes to a step.
func eachCount(counts []count) func(*string, *int64) bool {
	next := each(counts)
	return func(what *string, n *int64) bool {
		var c count
		ok := next(&c)
		*what, *n = c.what, c.n
		return ok
	}
}

// piecesOf returns n pieces. Each has a third of the keys 0 to 99.
func piecesOf(t *testing.T, n int) []piece {
	t.Helper()
	var pieces []piece
	for i := range n {
		var keys [][]byte
		for k := i % 3; k < 100; k += 3 {
			keys = append(keys, fmt.Appendf(nil, "%04d", k))
		}
		w := &pieceWriter{emit: func(p piece) { pieces = append(pieces, p) }}
		noError(t, w.writeKeys(keys))
	}
	return pieces
}

const testLease = "sievetable-0123456789abcdef.lease"

// targetOf returns the target for dir.
func targetOf(dir string) target { return target{Dir: dir, Lease: testLease} }

// write writes table 7 from the pieces in dir, and returns its output. It removes the lease.
func write(t *testing.T, dir string, pieces []piece) string {
	t.Helper()
	var line string
	fn := &writeTable{targetOf(dir)}
	noError(t, fn.ProcessElement(t.Context(), 7, each(pieces), func(b []byte) { line += string(b) }, dropCount))
	if err := os.Remove(filepath.Join(dir, testLease)); err != nil {
		t.Error(err)
	}
	return line
}

// A runner may process a bundle twice, with the pieces in another order. The table has the same bytes and the same
// name, even if there are so many pieces that they are merged in levels.
func TestWriteTableTwice(t *testing.T) {
	for _, n := range []int{3, fanIn - 1, fanIn, fanIn + 1, fanIn*fanIn + 70} {
		dir := t.TempDir()
		pieces := piecesOf(t, n)
		first := write(t, dir, pieces)
		rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		if diff := cmp.Diff(first, write(t, dir, pieces)); diff != "" {
			t.Errorf("%d pieces: what the step emits (-first +second):\n%s", n, diff)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Errorf("%d pieces: files %v, error %v, want one table", n, files, err)
		}
		if !strings.Contains(first, `"entries":100,`) {
			t.Errorf("%d pieces: %s, want 100 entries", n, first)
		}
	}
}

// A runner may continue after a bundle has failed, so that its output is missing. The last step notices, and writes
// no manifest.
func TestFinishNoticesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	table := []byte(write(t, dir, piecesOf(t, 3)))
	file, noFile := count{filesOfLines, 1}, count{filesOfLines, -1}
	sorted, merged := count{sortedPieces, 5}, count{sortedPieces, -5}
	three, done := count{cutPieces, 3}, count{cutPieces, -3}
	for name, test := range map[string]struct {
		dir    string
		splits []piece // nil for one
		ledger []count
		tables [][]byte
		want   string // "" for no error
	}{
		"complete":       {ledger: []count{file, sorted, noFile, merged, three, done}, tables: [][]byte{table}},
		"missing file":   {ledger: []count{file, file, noFile, sorted, merged, three, done}, tables: [][]byte{table}, want: "missing input files (1)"},
		"no splits":      {splits: []piece{}, ledger: []count{file, noFile}, want: "the splits are missing"},
		"no files":       {want: "no input files: "},
		"missing run":    {ledger: []count{file, noFile, sorted, three, done}, tables: [][]byte{table}, want: "missing pieces of sorted keys (5)"},
		"missing piece":  {ledger: []count{file, noFile, three, three, done}, tables: [][]byte{table}, want: "missing pieces of tables (3)"},
		"missing table":  {ledger: []count{file, noFile, three}, want: "missing pieces of tables (3)"},
		"twice":          {ledger: []count{file, noFile, three, three, done, done}, tables: [][]byte{table, table}, want: "set: line 3 of the manifest"},
		"garbage":        {ledger: []count{file, noFile, three, done}, tables: [][]byte{[]byte("x")}, want: "invalid table description from a worker"},
		"not shared dir": {dir: t.TempDir(), ledger: []count{file, noFile, three, done}, tables: [][]byte{table}, want: "all workers must write to the same Store"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.dir == "" {
				test.dir = dir
			}
			if test.splits == nil {
				test.splits = piecesOf(t, 1)
			}
			manifest := filepath.Join(test.dir, set.ManifestName)
			os.Remove(manifest)
			fn := &finish{Target: targetOf(test.dir), Lines: true}
			err := fn.ProcessElement(t.Context(), nil, each(test.splits), eachCount(test.ledger), each(test.tables), func(string) {})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if _, statErr := os.Stat(manifest); (statErr == nil) != (test.want == "") {
				t.Errorf("manifest: %v", statErr)
			}
		})
	}
}

// The end of a build does not affect another build that still runs in the same directory.
func TestFinishBesideAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	first, second := []byte(write(t, dir, piecesOf(t, 3))), []byte(write(t, dir, piecesOf(t, 2)))
	for i, table := range [][]byte{first, second, first} {
		fn := &finish{Target: targetOf(dir)}
		err := fn.ProcessElement(t.Context(), nil, each(piecesOf(t, 1)), eachCount(nil), each([][]byte{table}), func(string) {})
		if err != nil {
			t.Errorf("build %d: %v", i, err)
		}
	}
}

// No element is much larger than maxPiece, which not all runners could handle, even if all keys are sampled.
func TestElementsAreSmall(t *testing.T) {
	const n = 40
	r := rand.NewChaCha8([32]byte{})
	fn := sorter{RunSize: 1 << 30, Rate: 1}
	sizes := map[string]int{}
	emit := func(what string) func(piece) {
		return func(p piece) {
			if sizes[what] += len(p); len(p) > maxPiece+3*maxKey {
				t.Errorf("%s: an element of %d bytes", what, len(p))
			}
		}
	}
	to := output{emit("pieces"), emit("samples"), dropCount}
	for range n {
		key := make([]byte, maxKey)
		r.Read(key)
		noError(t, fn.add(t.Context(), key, nil, to))
	}
	noError(t, fn.flush(t.Context(), to))
	for what, size := range sizes {
		if size < n*maxKey {
			t.Errorf("%s: %d bytes, want the keys, %d bytes", what, size, n*maxKey)
		}
	}
}
