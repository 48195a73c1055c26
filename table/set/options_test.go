package set_test

import (
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// An option out of its range is an error that gives the reason.
func TestOpenRefusesOptions(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	const own, bytewise = "the Set sets it for each table", "a set's keys are in bytewise order"
	prefix := func(k []byte) []byte { return k[:1] }
	for want, o := range map[string]set.Options{
		"set: Reader.Name must not be set: " + own:           {Reader: table.ReaderOptions{Name: "n"}},
		"set: Reader.CacheKey must not be set: " + own:       {Reader: table.ReaderOptions{CacheKey: "k"}},
		"set: Reader.TailSum must not be set: " + own:        {Reader: table.ReaderOptions{TailSum: [32]byte{1}}},
		"set: Reader.TailSize must not be set: " + own:       {Reader: table.ReaderOptions{TailSize: 1}},
		"set: Reader.FilterKey must not be set: " + bytewise: {Reader: table.ReaderOptions{FilterKey: prefix}},
		"set: Reader.Comparer must not be set: " + bytewise:  {Reader: table.ReaderOptions{Comparer: table.BytewiseComparer}},
		"table: MaxBlockSize is -1, not 0 to ":               {Reader: table.ReaderOptions{MaxBlockSize: -1}},
		"set: MemorySize is -1: must not be negative":        {MemorySize: -1},
		"set: FilterMemory is -1: must not be negative":      {FilterMemory: -1},
		"set: ReadTimeout is -1ns: must not be negative":     {ReadTimeout: -1},
		"set: FilterMemory is set with Reader.IgnoreFilter":  {FilterMemory: 1, Reader: table.ReaderOptions{IgnoreFilter: true}},
		"set: OnLoss is set without OpenAll":                 {OnLoss: func(table.Loss) bool { return true }},
		"set: MaxOpenFiles must not be set for Open":         {MaxOpenFiles: 3},
		"set: Concurrency is -1: must be 0 to 1024":          {Concurrency: -1},
		"set: Concurrency is 1025: must be 0 to 1024":        {Concurrency: 1025},
	} {
		_, err := set.Open(background, m, src, &o)
		checkError(t, "Open", err, nil, want)
	}
}
