package set_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
	"github.com/sievetable/sievetable/table/set"
)

// One table of a random set of layers is missing or corrupt. Get returns the intact set's value, or an error. With
// layers, that is a HiddenError with the value from the layers below. An Iter fails, or with OnLoss skips the loss,
// whose range contains all keys that it misses or changes.
func TestLossInLayers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(60, 1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 44))
			l := newLayeredModel(rng)
			for range 2 + rng.IntN(4) {
				l.add(t)
			}
			sound := open(t, l.m, l.src, nil)
			src, lost := newStore(), rng.IntN(max(1, l.tables))
			for name, contents := range l.src.files {
				src.files[name] = bytes.Clone(contents)
			}
			name := fmt.Sprint("t", lost+1)
			if contents := src.files[name]; rng.IntN(2) == 0 {
				delete(src.files, name)
				src.before = failing(fs.ErrNotExist, name)
			} else if len(contents) > 0 {
				contents[0] ^= 1 // of the first data block
			}
			s := open(t, l.m, src, nil)
			checkHidden(t, sound, s, l.src, below(l.m, name))
			checkLosses(t, sound, s)
		})
	}
}

// below returns the layers older than the one that contains a table.
func below(m *set.Manifest, name string) *set.Manifest {
	for i, l := range slices.Backward(m.Layers) {
		for _, t := range slices.Concat(l.Tables, l.Removals) {
			if t.Name == name {
				return &set.Manifest{Tables: m.Tables, Layers: m.Layers[:i]}
			}
		}
	}
	return nil
}

func checkHidden(t *testing.T, sound, s *set.Set, src *store, below *set.Manifest) {
	t.Helper()
	for i := range numberOfKeys {
		k := key(i)
		v, err := s.Get(background, []byte(k))
		want, wantErr := sound.Get(background, []byte(k))
		if err == nil || errors.Is(err, table.ErrNotFound) {
			if string(v) != string(want) || !errors.Is(err, wantErr) {
				t.Errorf("Get(%s) = %q, %v; want %q, %v", k, v, err, want, wantErr)
			}
			continue
		}
		h := (*merge.HiddenError)(nil)
		if errors.As(err, &h) != (below != nil) {
			t.Errorf("Get(%s) = %v, a HiddenError: %t; want one if layers are below: %t", k, err, h != nil, below != nil)
		}
		if h == nil {
			continue
		}
		older := open(t, below, src, nil)
		v, err = older.Get(background, []byte(k))
		if h.Found != (err == nil) || string(h.Value) != string(v) {
			t.Errorf("Get(%s): the error has %q, %t; want %q, %v", k, h.Value, h.Found, v, err)
		}
	}
}

func checkLosses(t *testing.T, sound, s *set.Set) {
	t.Helper()
	var losses []table.Loss
	passed := entriesOf(t, s, func(l table.Loss) bool { losses = append(losses, l); return true })
	shown := entriesOf(t, sound, nil)
	for i := range numberOfKeys {
		k := key(i)
		isLost := slices.ContainsFunc(losses, func(l table.Loss) bool {
			return (l.From == nil || k >= string(l.From)) && (l.To == nil || k <= string(l.To))
		})
		got, isPassed := passed[k]
		if want, isShown := shown[k]; !isLost && (got != want || isPassed != isShown) {
			t.Errorf("%s has %q, want %q, and no loss of it is reported: %v", k, got, want, losses)
		}
	}
	it := s.NewIter(background, nil)
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
	}
	if (it.Error() != nil) != (len(losses) > 0) {
		t.Errorf("without OnLoss: %v; with it %d losses", it.Error(), len(losses))
	}
}
