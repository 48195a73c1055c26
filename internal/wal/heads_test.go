package wal

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// KeepHeads changes nothing but how much of a record Next returns.
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
		file, keep := damagedFile(rng, logFile(t, records)), rng.IntN(1<<rng.IntN(17))
		read := func(set func(*Reader)) (all []record, damage []Damage) {
			r, err := NewLogReader(bytes.NewReader(file), int64(len(file)), func(d Damage) {
				d.Torn = nil
				damage = append(damage, d)
			})
			if err != nil {
				t.Fatal(err)
			}
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
