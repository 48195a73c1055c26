package database_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/merge"
)

// Whichever versions of a key are in corrupt tables of a level, a lookup's error names the tables with newer
// versions than the first readable one, and has the value of that one, which later lookups do not change.
func TestHiddenErrorHasNewestReadable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 46))
		var l layout
		want, corrupt := "", 0
		var damaged []string
		for i := range uint64(1 + rng.IntN(5)) {
			w := set("k", 20-i, fmt.Sprint("value ", i))
			if rng.IntN(4) == 0 {
				w = del("k", 20-i)
			}
			m := l.table(t, 1, w)
			if rng.IntN(2) == 0 {
				damaged = append(damaged, fmt.Sprintf("%06d.ldb", m.Number))
			} else if corrupt == 0 {
				corrupt, want = 1+len(damaged), w.value
			}
		}
		if corrupt == 0 {
			corrupt = 1 + len(damaged)
		}
		l.table(t, 2, set("other", 1, strings.Repeat("another value", 2)))
		files := l.end(t)
		for _, name := range damaged {
			files[name].Data[0] ^= 1 // in the data block
		}
		db := openFS(t, files, nil)
		for _, get := range []func(key []byte) ([]byte, error){db.Get, func(key []byte) ([]byte, error) { return db.AppendGet(nil, key) }} {
			value, err := get([]byte("k"))
			h := (*merge.HiddenError)(nil)
			if !errors.As(err, &h) {
				if corrupt > 1 || string(value) != want || (err == nil) != (want != "") {
					t.Errorf("seed %d: Get = %q, %v; want %q", seed, value, err, want)
				}
				continue
			}
			for range 3 {
				_, err := db.AppendGet(nil, []byte("other"))
				noError(t, err)
			}
			if n := strings.Count(err.Error(), ".ldb"); n != corrupt-1 || h.Found != (want != "") || string(h.Value) != want {
				t.Errorf("seed %d: Get = %v, with %q, %t; want %q, and %d tables", seed, err, h.Value, h.Found, want, corrupt-1)
			}
		}
	}
}

// Whatever parts of logs are corrupt, each lost write is within the sequence numbers of a loss. If these have both
// bounds, the loss names the write's log, and covers only lost writes.
func TestLossesOfLogs(t *testing.T) {
	t.Parallel()
	lossy, seeds := 0, long.Rounds(60, 2000)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 47))
		var l layout
		files := map[uint64]string{} // of the writes, by their sequence numbers
		sequence := uint64(0)
		for range 1 + rng.IntN(3) {
			var batches [][]byte
			first := sequence
			for range 1 + rng.IntN(8) {
				sequence++
				batches = append(batches, batch(set(fmt.Sprint("key", sequence), sequence, strings.Repeat("v", rng.IntN(40_000)))))
			}
			name := l.write(t, batches...)
			for n := first + 1; n <= sequence; n++ {
				files[n] = name
			}
			if data := l.files[name].Data; rng.IntN(2) == 0 {
				data[rng.IntN(len(data)/2)] ^= 1
			} else if rng.IntN(4) == 0 {
				l.files[name].Data = data[:rng.IntN(len(data))]
			}
		}
		var losses []table.Loss
		db := openFS(t, l.end(t), &database.Options{OnLoss: func(l table.Loss) bool { losses = append(losses, l); return true }})
		if len(losses) > 0 {
			lossy++
		}
		last := sequence
		for ; last > 0; last-- { // the end can be an incomplete write
			if _, err := db.Get(fmt.Appendf(nil, "key%d", last)); err == nil {
				break
			}
		}
		shown := map[uint64]bool{}
		for n := uint64(1); n <= last; n++ {
			_, err := db.Get(fmt.Appendf(nil, "key%d", n))
			shown[n] = err == nil
			isNamed := slices.ContainsFunc(losses, func(l table.Loss) bool { return l.FirstSequence <= n && (n <= l.LastSequence || l.LastSequence == 0) })
			if !shown[n] && !isNamed {
				t.Errorf("seed %d: write %d in %s is lost; losses %v", seed, n, files[n], losses)
			}
		}
		for _, l := range losses {
			isInFile := l.FirstSequence == 1 || l.LastSequence == 0 || l.FirstSequence > l.LastSequence // the first is unknown, or the last, or there is none
			for n := l.FirstSequence; n <= l.LastSequence; n++ {
				if isInFile = isInFile || files[n] == l.File; shown[n] && l.FirstSequence > 1 {
					t.Errorf("seed %d: write %d in %s is shown; losses %v", seed, n, files[n], losses)
				}
			}
			if !isInFile {
				t.Errorf("seed %d: loss %v of writes of other logs: %v", seed, l, files)
			}
		}
	}
	if lossy < seeds/3 {
		t.Errorf("%d of %d databases have lost writes", lossy, seeds)
	}
}
