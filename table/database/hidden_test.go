package database_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// Whatever is corrupt, a lookup returns what the sound database has, or a HiddenError. The value of that is of a
// version of the key. GetMany returns the same.
func TestCorruptTablesHideVersions(t *testing.T) {
	t.Parallel()
	hidden, older := 0, 0
	seeds := uint64(60)
	if long.Enabled() {
		seeds = 2000
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 44))
		r := newRandom(rng, 1+rng.IntN(150))
		files := r.build(t)
		o := &database.Options{Comparers: []table.Comparer{backward{table.BytewiseComparer}}}
		sound := openFS(t, files, o)
		damaged := maps.Clone(files)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".ldb") && rng.IntN(2) == 0 {
				f := *files[name]
				f.Data = slices.Clone(f.Data)
				f.Data[0] ^= 1 // of the first data block
				damaged[name] = &f
			}
		}
		db := openFS(t, damaged, o)
		versions := map[string]bool{}
		for _, w := range r.writes {
			versions[string(w.UserKey)+"="+w.value] = true
		}
		for i, key := range r.keys {
			v, err := db.Get([]byte(key))
			h := (*table.HiddenError)(nil)
			if !errors.As(err, &h) {
				want, wantErr := sound.Get([]byte(key))
				if string(v) != string(want) || !errors.Is(err, wantErr) {
					t.Fatalf("seed %d: Get(%q) = %q, %v; want %q, %v", seed, key, v, err, want, wantErr)
				}
				continue
			}
			hidden++
			if h.Found {
				older++
			}
			if !errors.Is(err, table.ErrCorrupt) || h.Found && !versions[key+"="+string(h.Value)] || !h.Found && h.Value != nil {
				t.Errorf("seed %d: Get(%q) = %v, with %q, which is no version of the key", seed, key, err, h.Value)
			}
			var many error
			o := &table.GetManyOptions{NoAnswer: func(_ int, err error) { many = err }}
			if all := db.GetMany(context.Background(), [][]byte{[]byte(r.keys[i])}, o, nil); fmt.Sprint(all) != fmt.Sprint(err) || fmt.Sprint(many) != fmt.Sprint(err) {
				t.Errorf("seed %d: GetMany of %q = %v, %v; want %v", seed, key, all, many, err)
			}
		}
		errors.Join(sound.Close(), db.Close())
	}
	if hidden == 0 || older == 0 {
		t.Errorf("%d keys were hidden, %d with an older version; want some of both", hidden, older)
	}
}
