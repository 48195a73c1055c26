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
	const own, bytewise = "the Set sets it for each table", "a set's keys are in bytewise order"
	prefix := func(k []byte) []byte { return k[:1] }
	for name, test := range map[string]struct {
		o    set.Options
		want string
	}{
		"Name":      {set.Options{Reader: table.ReaderOptions{Name: "n"}}, "set: Reader.Name must not be set: " + own},
		"CacheKey":  {set.Options{Reader: table.ReaderOptions{CacheKey: "k"}}, "set: Reader.CacheKey must not be set: " + own},
		"TailSum":   {set.Options{Reader: table.ReaderOptions{TailSum: [32]byte{1}}}, "set: Reader.TailSum must not be set: " + own},
		"TailSize":  {set.Options{Reader: table.ReaderOptions{TailSize: 1}}, "set: Reader.TailSize must not be set: " + own},
		"FilterKey": {set.Options{Reader: table.ReaderOptions{FilterKey: prefix}}, "set: Reader.FilterKey must not be set: " + bytewise},
		"Comparer": {set.Options{Reader: table.ReaderOptions{Comparer: table.BytewiseComparer}},
			"set: Reader.Comparer must not be set: " + bytewise},
		"MaxBlockSize":          {set.Options{Reader: table.ReaderOptions{MaxBlockSize: -1}}, "table: MaxBlockSize is -1, not 0 to "},
		"MemorySize":            {set.Options{MemorySize: -1}, "set: MemorySize is -1: must not be negative"},
		"FilterMemory":          {set.Options{FilterMemory: -1}, "set: FilterMemory is -1: must not be negative"},
		"ReadTimeout":           {set.Options{ReadTimeout: -1}, "set: ReadTimeout is -1ns: must not be negative"},
		"MaxOpenFiles":          {set.Options{MaxOpenFiles: 3}, "set: MaxOpenFiles must not be set for Open"},
		"Concurrency too small": {set.Options{Concurrency: -1}, "set: Concurrency is -1: must be 0 to 1024"},
		"Concurrency too large": {set.Options{Concurrency: 1025}, "set: Concurrency is 1025: must be 0 to 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := set.Open(background, m, src, &test.o); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Open = %v, want %s", err, test.want)
			}
		})
	}
}
