package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/internal/long"
)

// commit returns a batch of writes: to every step-th key from start to end.
func commit(kind history.Kind, start, end, step int, value string) []history.Op {
	var ops []history.Op
	for i := start; i < end; i += step {
		op := history.Op{Kind: kind, Key: fmt.Appendf(nil, "key%06d", i)}
		if kind == history.Put {
			op.Value = fmt.Appendf(nil, "%s %d", value, i)
		}
		ops = append(ops, op)
	}
	return append(ops, history.Op{Kind: history.Commit})
}

// some returns the first n ops of churn.
func some(n int, seed uint64) (ops []history.Op) {
	for op := range churn(rand.New(rand.NewPCG(seed, 14))) {
		if len(ops) == n {
			break
		}
		ops = append(ops, op)
	}
	return ops
}

var compactAll = []history.Op{{Kind: history.CompactRange, Key: []byte(" "), Value: []byte("~")}}

// newest returns the last file of a directory that the pattern matches.
func newest(t *testing.T, dir, pattern string) string {
	t.Helper()
	names := filesOf(t, dir, pattern, 1)
	return names[len(names)-1]
}

// change replaces the contents of a file.
func change(t *testing.T, path string, by func(contents []byte) []byte) {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, by(contents), 0o666)
	}
	noError(t, err)
}

// pad extends a file with zeros to a multiple of size, as writers do that map the file into memory.
func pad(t *testing.T, path string, size int) {
	t.Helper()
	change(t, path, func(contents []byte) []byte {
		return append(contents, make([]byte, (size-len(contents)%size)%size)...)
	})
}

// shapes lists states of databases, with functions that create them.
var shapes = []struct {
	name string
	make func(t *testing.T, e recoverer, dir string)
}{
	{"nothing but a log", func(t *testing.T, e recoverer, dir string) {
		e.live(t, dir, false, commit(history.Put, 0, 50, 1, "first"), commit(history.Delete, 0, 50, 3, ""), commit(history.Put, 0, 50, 6, "second"))
	}},
	{"nothing in it", func(t *testing.T, e recoverer, dir string) { e.live(t, dir, false) }},
	{"nothing but deletions", func(t *testing.T, e recoverer, dir string) {
		e.live(t, dir, false, commit(history.Delete, 0, 50, 1, ""))
	}},
	{"closed cleanly", func(t *testing.T, e recoverer, dir string) { e.live(t, dir, false, some(5000, 1)) }},
	{"opened again", func(t *testing.T, e recoverer, dir string) {
		e.live(t, dir, false, some(5000, 1))
		e.live(t, dir, false)
	}},
	{"a log that was taken up again", func(t *testing.T, e recoverer, dir string) {
		for seed := range uint64(3) {
			e.live(t, dir, true, some(300, seed))
		}
	}},
	{"a log that deletes keys of tables", func(t *testing.T, e recoverer, dir string) {
		e.live(t, dir, false, commit(history.Put, 0, 3000, 1, "old"), compactAll,
			commit(history.Delete, 0, 3000, 3, ""), commit(history.Put, 0, 3000, 30, "new"))
	}},
	{"a log longer than a block", func(t *testing.T, e recoverer, dir string) {
		e.live(t, dir, false, commit(history.Put, 0, 2000, 1, "old"), commit(history.Delete, 0, 2000, 7, ""))
	}},
}

// From databases with logs, the command reads the same pairs as the engine that wrote them, even if the MANIFEST or
// the log is padded with zeros.
func TestLogsOfDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst := buildSST(t)
	eachRecoverer(t, func(t *testing.T, e recoverer) {
		for _, shape := range shapes {
			t.Run(shape.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "db")
				shape.make(t, e, dir)
				e.check(t, sst, dir, "as it is")
				for _, pattern := range []string{"MANIFEST-*", "*.log"} {
					for _, size := range []int{4 << 10, 64 << 10} {
						pad(t, newest(t, dir, pattern), size)
						e.check(t, sst, dir, fmt.Sprintf("%s of a multiple of %d bytes", pattern, size))
					}
				}
			})
		}
	})
}

// From a log that is truncated at any byte, the command reads all complete batches.
func TestTornLogsOfDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst := buildSST(t)
	eachRecoverer(t, func(t *testing.T, e recoverer) {
		dir := filepath.Join(t.TempDir(), "db")
		e.live(t, dir, false, some(1500, 2))
		rng := rand.New(rand.NewPCG(3, 14))
		for range 12 {
			change(t, newest(t, dir, "*.log"), func(contents []byte) []byte {
				return contents[:len(contents)-rng.IntN(1+len(contents)/4)]
			})
			e.check(t, sst, dir, "truncated")
		}
	})
}

// check is like compare, but reports differences as errors of the test. what says what was compared.
func (e recoverer) check(t *testing.T, sst sstCommand, dir, what string) {
	t.Helper()
	difference, err := e.compare(t, sst, dir)
	if err != nil {
		t.Errorf("%s: %s cannot recover its database: %v", what, e.name, err)
	}
	if difference != "" {
		t.Errorf("%s: %s", what, difference)
	}
}

// C++ LevelDB appends to a zero-padded log after the zeros. Later it reads only the blocks without zeros, and so
// does the command. From the block with the zeros, the command reads what was appended once, and reports damage. If
// LevelDB has appended there repeatedly, the sequence numbers step back.
func TestLogGoesOnBehindZeros(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst, e := buildSST(t), levelDBRecoverer(t)
	for _, size := range []int{4 << 10, 64 << 10} {
		dir, plain := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "plain")
		live := func(ops ...[]history.Op) {
			e.live(t, dir, true, ops...)
			e.live(t, plain, true, ops...)
		}
		live(commit(history.Put, 0, 500, 1, "before"), commit(history.Delete, 0, 500, 5, ""))
		log := newest(t, dir, "*.log")
		pad(t, log, size)
		pad(t, newest(t, dir, "MANIFEST-*"), size)
		padded := fileSize(t, log)
		for i := range 4 { // each of records that fill a part of a block
			live(commit(history.Put, i*100, i*100+300, 1, "behind"), commit(history.Delete, i*100, 500, 9, ""))
			if i == 0 && fileSize(t, log) <= padded {
				t.Error("the log was not taken up again")
			}
			if size > 32<<10 {
				e.check(t, sst, dir, fmt.Sprintf("%d times more behind a multiple of %d bytes", i+1, size))
				continue
			}
			status, got, stderr := sst.call("scan", dir)
			if status != 3 || !strings.Contains(stderr, "header of zeros") {
				t.Errorf("%d times more behind a multiple of %d bytes: status %d, %s", i+1, size, status, stderr)
			}
			if _, want, _ := sst.call("scan", plain); i == 0 && got != want {
				t.Errorf("%s, behind a multiple of %d bytes", firstDifference([]byte(want), []byte(got)), size)
			}
		}
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	noError(t, err)
	return info.Size()
}

// From a damaged log, the command reads every original pair that C++ LevelDB recovers.
func TestDamagedLogsOfDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst, e := buildSST(t), levelDBRecoverer(t)
	dir := filepath.Join(t.TempDir(), "db")
	e.live(t, dir, false, some(300, 4))
	_, sound, _ := sst.call("scan", "-f", "hex", dir)
	rng := rand.New(rand.NewPCG(5, 14))
	for range 8 {
		damaged := copyOf(t, dir)
		var at int
		change(t, newest(t, damaged, "*.log"), func(contents []byte) []byte {
			at = rng.IntN(len(contents))
			contents[at] ^= byte(1 + rng.IntN(255))
			return contents
		})
		kept, err := e.recover(copyOf(t, damaged))
		noError(t, err)
		status, got, stderr := sst.call("scan", "-f", "hex", damaged)
		if status != 3 && got != sound {
			t.Errorf("damage at byte %d of the log: status %d, %s", at, status, stderr)
		}
		for pair := range strings.Lines(sound) {
			if bytes.Contains(kept, []byte(pair)) && !strings.Contains(got, pair) {
				t.Errorf("damage at byte %d of the log: %s has the pair %s and sst has not: %s", at, e.name, pair, stderr)
			}
		}
	}
}
