package main

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

type tables struct{ *set.Set }

// openSet returns a function that opens a set with all of its tables. Filters and indexes are the tails of the
// tables. The rest of the memory is for blocks.
func openSet(mapped bool) func(dir string, n int) (database, error) {
	return func(dir string, n int) (database, error) {
		m, err := set.NewDir(dir).ReadManifest()
		if err != nil {
			return nil, err
		}
		blocks := cacheBytes(n)
		for _, t := range m.Tables {
			blocks -= t.TailSize
		}
		o := &set.Options{OpenAll: true}
		o.Reader.Mapped, o.Reader.Cache = mapped, table.NewCache(blocks)
		return openTables(dir, o)
	}
}

func openTables(dir string, o *set.Options) (tables, error) {
	policy, err := fuse.New(8)
	if err != nil {
		return tables{}, err
	}
	o.Reader.TableFilterPolicies = []filter.TablePolicy{policy}
	s, err := set.OpenDir(context.Background(), dir, o)
	return tables{s}, err
}

// Has gets the key. In a set of only filters, a key that may be present counts as present.
func (t tables) Has(key []byte) (bool, error) {
	_, err := t.Get(context.Background(), key)
	switch {
	case errors.Is(err, table.ErrNotFound):
		return false, nil
	case errors.Is(err, table.ErrFilterOnly):
		return true, nil
	}
	return err == nil, err
}

// FalsePositives checks the filters only. Has reads a block for each false positive.
func (t tables) FalsePositives(absent sample) (n int, err error) {
	for i := range absent.len() {
		may, err := t.MayContain(context.Background(), absent.at(i))
		if err != nil {
			return n, err
		}
		if may {
			n++
		}
	}
	return n, nil
}
