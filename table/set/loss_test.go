package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
	"github.com/sievetable/sievetable/table/set"
)

// One table of a random set of layers is corrupt, or some are missing. Get returns the intact set's value, or an error.
// In layers, that is a HiddenError with the value from the other tables. An Iter fails, or with OnLoss skips the loss,
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
			src, lost := newStore(), map[string]bool{}
			for name, contents := range l.src.files {
				src.files[name] = bytes.Clone(contents)
			}
			for range 1 + rng.IntN(2)*rng.IntN(4) {
				lost[fmt.Sprint("t", 1+rng.IntN(max(1, l.tables)))] = true
			}
			names := slices.Collect(maps.Keys(lost))
			if contents := src.files[names[0]]; len(names) == 1 && len(contents) > 0 && rng.IntN(2) == 0 {
				contents[0] ^= 1 // of the first data block
			} else {
				src.before = failing(fs.ErrNotExist, names...)
			}
			s := open(t, l.m, src, nil)
			checkHidden(t, sound, s, open(t, without(l.m, lost), l.src, nil))
			checkLosses(t, sound, s)
		})
	}
}

// without returns the manifest without some tables.
func without(m *set.Manifest, lost map[string]bool) *set.Manifest {
	rest := func(tables []set.Table) []set.Table {
		return slices.DeleteFunc(slices.Clone(tables), func(t set.Table) bool { return lost[t.Name] })
	}
	others := &set.Manifest{Tables: rest(m.Tables)}
	for _, l := range m.Layers {
		others.Layers = append(others.Layers, set.Layer{Tables: rest(l.Tables), Removals: rest(l.Removals)})
	}
	return others
}

// checkHidden compares lookups in s with lookups in the intact set, and in a set of the intact tables.
func checkHidden(t *testing.T, sound, s, others *set.Set) {
	t.Helper()
	all, rest := s.Manifest(), others.Manifest()
	inBase := len(rest.Tables) < len(all.Tables)
	inLayer := len(slices.Collect(all.All()))-len(slices.Collect(rest.All())) > len(all.Tables)-len(rest.Tables)
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
		if isHidden := errors.As(err, &h); isHidden && !inLayer || !isHidden && !inBase {
			t.Errorf("Get(%s) = %v, a HiddenError: %t; lost in layers: %t, below: %t", k, err, isHidden, inLayer, inBase)
		}
		if h == nil {
			continue
		}
		v, err = others.Get(background, []byte(k))
		if h.Found != (err == nil) || string(h.Value) != string(v) {
			t.Errorf("Get(%s): the error has %q, %t; want %q, %v", k, h.Value, h.Found, v, err)
		}
	}
}

// A key that may be in a lost table of a layer is not absent, even if ctx ends when the lookup has found no older version.
func TestLossIsNotAbsenceOnceContextEnds(t *testing.T) {
	src, m := setOf(t, 1, perTable, &table.WriterOptions{FilterPolicy: filter.NewBloom(1)})
	m.Layers = []set.Layer{{Tables: []set.Table{src.put(t, "layer", nil, numbered(0, perTable))}}}
	src.before = failing(fs.ErrNotExist, "layer")
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	o := new(set.Options)
	o.Reader.OnFalsePositive = func([]byte) { cancel() } // the base's only data block has been searched
	s := open(t, m, src, o)
	for i := 0; ctx.Err() == nil && i < perTable-1; i++ {
		if _, err := s.Get(ctx, []byte(key(i)+"x")); !errors.As(err, new(*merge.HiddenError)) {
			t.Errorf("Get(%sx) = %v, want a HiddenError", key(i), err)
		}
	}
	if ctx.Err() == nil {
		t.Error("no false positive has ended the context")
	}
}

func checkLosses(t *testing.T, sound, s *set.Set) {
	t.Helper()
	var losses []table.Loss
	passed := entriesOf(t, s, func(l table.Loss) bool { losses = append(losses, l); return true })
	for _, l := range losses {
		if hasOlder := len(s.Manifest().Layers) > 0; l.OlderShow != hasOlder {
			t.Errorf("%v: OlderShow is %t, want %t", l, l.OlderShow, hasOlder)
		}
	}
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
