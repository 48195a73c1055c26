package set_test

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// An option out of its range is an error that says why.
func TestOpenRefusesOptions(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	const own, bytewise = "the Set gives each table its own", "keys of a set are in the bytewise order"
	prefix := func(k []byte) []byte { return k[:1] }
	for name, test := range map[string]struct {
		o    set.Options
		want string
	}{
		"Name":      {set.Options{Reader: table.ReaderOptions{Name: "n"}}, "set: Reader.Name is set, want it unset: " + own},
		"CacheKey":  {set.Options{Reader: table.ReaderOptions{CacheKey: "k"}}, "set: Reader.CacheKey is set, want it unset: " + own},
		"TailSum":   {set.Options{Reader: table.ReaderOptions{TailSum: [32]byte{1}}}, "set: Reader.TailSum is set, want it unset: " + own},
		"TailSize":  {set.Options{Reader: table.ReaderOptions{TailSize: 1}}, "set: Reader.TailSize is set, want it unset: " + own},
		"FilterKey": {set.Options{Reader: table.ReaderOptions{FilterKey: prefix}}, "set: Reader.FilterKey is set, want it unset: " + bytewise},
		"Comparer": {set.Options{Reader: table.ReaderOptions{Comparer: table.BytewiseComparer}},
			"set: Reader.Comparer is set, want it unset: " + bytewise},
		"MaxBlockSize":          {set.Options{Reader: table.ReaderOptions{MaxBlockSize: -1}}, "table: MaxBlockSize is -1, want 0 to "},
		"MemorySize":            {set.Options{MemorySize: -1}, "set: MemorySize is -1, want 0 or more"},
		"FilterMemory":          {set.Options{FilterMemory: -1}, "set: FilterMemory is -1, want 0 or more"},
		"ReadTimeout":           {set.Options{ReadTimeout: -1}, "set: ReadTimeout is -1ns, want 0 or more"},
		"MaxOpenFiles":          {set.Options{MaxOpenFiles: 3}, "set: MaxOpenFiles is set, want it unset: Open opens no files"},
		"Concurrency too small": {set.Options{Concurrency: -1}, "set: Concurrency is -1, want 0 to 1024"},
		"Concurrency too large": {set.Options{Concurrency: 1025}, "set: Concurrency is 1025, want 0 to 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := set.Open(background, m, src, &test.o); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Open = %v, want %s", err, test.want)
			}
		})
	}
}
