package wal

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/filtertest"
)

// longRecord is a log of one record that fills this many blocks, one fragment each.
type longRecord struct {
	first, middle, last []byte
	blocks              int64
}

func newLongRecord(start string, blocks int64) *longRecord {
	fragment := func(kind byte, start string) []byte {
		return fragmentOf(kind, start+strings.Repeat("q", blockSize-FragmentHeaderLen-len(start)))
	}
	return &longRecord{fragment(kindFirst, start), fragment(kindMiddle, ""), fragment(kindLast, ""), blocks}
}

func (l *longRecord) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		block := l.middle
		switch i := (at + int64(n)) / blockSize; {
		case i == 0:
			block = l.first
		case i == l.blocks-1:
			block = l.last
		case i >= l.blocks:
			return n, io.EOF
		}
		n += copy(p[n:], block[(at+int64(n))%blockSize:])
	}
	return n, nil
}

// A long record is not read into memory. The test is not parallel, since it measures the memory of the process.
func TestHasNoBatchesTakesLittleMemory(t *testing.T) {
	for _, tt := range []struct {
		start string
		want  bool
	}{
		{"\x0a\xff\xff\x7f", true},
		{batch(1, 1000, "\x01\x01k\xff\xff\x7f"), false},
	} {
		file := newLongRecord(tt.start, 64<<20/blockSize)
		var got bool
		var err error
		n := filtertest.AllocatedBy(func() { got, err = HasNoBatches(file, file.blocks*blockSize) })
		if got != tt.want || err != nil {
			t.Errorf("a record that starts with %q: %v, %v, want %v", tt.start, got, err, tt.want)
		}
		if n > 8<<20 {
			t.Errorf("a record of 64 MiB that starts with %q takes %d bytes of memory", tt.start, n)
		}
	}
}

// KeepHeads changes only how much of a record Next returns.
func TestKeepHeads(t *testing.T) {
	t.Parallel()
	type record struct {
		Head        string
		Offset, End int64
		Len         int
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var records [][]byte
		for range 1 + rng.IntN(20) {
			records = append(records, protobuf(rng, randomSize(rng)))
		}
		file, keep := damagedFile(rng, logOf(t, records...)), rng.IntN(1<<rng.IntN(17))
		read := func(set func(*Reader)) (all []record, damage []Damage) {
			r, err := NewLogReader(bytes.NewReader(file), int64(len(file)), func(d Damage) {
				d.Torn = nil
				damage = append(damage, d)
			})
			noError(t, err)
			set(r)
			for {
				b, offset, err := r.Next()
				if err == io.EOF {
					return all, damage
				}
				all = append(all, record{string(b[:min(keep, len(b))]), offset, r.Offset(), r.RecordLen()})
			}
		}
		want, wantDamage := read(func(*Reader) {})
		got, gotDamage := read(func(r *Reader) { r.KeepHeads(keep) })
		if diff := cmp.Diff(want, got) + cmp.Diff(wantDamage, gotDamage); diff != "" {
			t.Errorf("seed %d: records differ with KeepHeads(%d) (-without +with):\n%s", seed, keep, diff)
		}
	}
}
