package database

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// byLevel returns the tables of a version by their levels, each in the order of a level. Tables of a
// level > 0 that overlap are an error, and so are ranges that are none.
func byLevel(v *versions.Version, internal table.Comparer) ([][]*versions.Table, error) {
	var levels [][]*versions.Table
	numbers := make(map[uint64]bool, len(v.Tables))
	for i, t := range v.Tables { // by level, and then by number, the highest first
		for _, key := range [][]byte{t.Smallest, t.Largest} {
			if _, ok := table.ParseInternalKey(key); !ok {
				return nil, fmt.Errorf("table %06d: its range has the key %s, want an internal key", t.Number, wire.Quote(key))
			}
		}
		if numbers[t.Number] {
			return nil, fmt.Errorf("table %06d is listed twice", t.Number)
		}
		numbers[t.Number] = true
		if i == 0 || v.Tables[i-1].Level != t.Level {
			levels = append(levels, nil)
		}
		last := &levels[len(levels)-1]
		*last = append(*last, t)
	}
	for _, tables := range levels {
		if err := sortLevel(tables, internal); err != nil {
			return nil, fmt.Errorf("level %d: %w", tables[0].Level, err)
		}
	}
	return levels, nil
}

// sortLevel sorts the tables of a level > 0 by their keys, and checks the ranges of any level.
func sortLevel(tables []*versions.Table, internal table.Comparer) error {
	overlaps := tables[0].Level == 0
	if !overlaps {
		slices.SortFunc(tables, func(a, b *versions.Table) int {
			return cmp.Or(internal.Compare(a.Smallest, b.Smallest), cmp.Compare(a.Number, b.Number))
		})
	}
	for i, t := range tables {
		if internal.Compare(t.Smallest, t.Largest) > 0 {
			return fmt.Errorf("table %06d: its first key %v is > its last key %v", t.Number, smallest(t), largest(t))
		}
		if before := tables[max(i-1, 0)]; !overlaps && i > 0 && internal.Compare(before.Largest, t.Smallest) >= 0 {
			return fmt.Errorf("table %06d begins with key %v, and table %06d before it ends with %v: want ranges that do not overlap",
				t.Number, smallest(t), before.Number, largest(before))
		}
	}
	return nil
}

// smallest returns the first key of a table, and largest the last one.
func smallest(t *versions.Table) table.InternalKey { return parsed(t.Smallest) }
func largest(t *versions.Table) table.InternalKey  { return parsed(t.Largest) }

// parsed splits an internal key, of which the form was checked.
func parsed(key []byte) table.InternalKey {
	k, _ := table.ParseInternalKey(key)
	return k
}

// sameTable reports whether two versions list the same file. Engines can give the number of a file
// that they have removed to another one.
func sameTable(a, b *versions.Table) bool {
	return a.Number == b.Number && a.Size == b.Size && bytes.Equal(a.Smallest, b.Smallest) && bytes.Equal(a.Largest, b.Largest)
}
