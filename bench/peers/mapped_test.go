package main

import (
	"os"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkGetMapped gets present keys of W1, uncompressed, in a random order: of ours mapped, with
// and without checksums, of ours read, and of goleveldb's read, which compares checksums too. They take
// turns of some thousand keys. The metrics are for a key.
func BenchmarkGetMapped(b *testing.B) {
	set := workload.W1(1_000_000)
	const keys = 5000
	all := getters(b, file(b, tableOf(b, set, table.NoCompression)), func(i int, get func(key []byte) error) error {
		for k := range keys {
			if err := get(set.Keys[set.Hits[(i*keys+k)%len(set.Hits)]]); err != nil {
				return err
			}
		}
		return nil
	})
	inTurns(b, 1, keys, all...)
	for _, ours := range all[1:] {
		reportRatio(b, ours.name, all[0], ours)
	}
}

// getters are goleveldb's and then ours, which get the keys of round i.
func getters(b *testing.B, name string, round func(i int, get func(key []byte) error) error) []*contender {
	b.Helper()
	contend := func(name string, get func(key []byte) error) *contender {
		return &contender{name: name, do: func(i int) error { return round(i, get) }}
	}
	f, err := os.Open(name)
	noError(b, err)
	info, err := f.Stat()
	noError(b, err)
	theirs, err := newTheirs(f, info.Size())
	noError(b, err)
	b.Cleanup(theirs.Release)
	all := []*contender{contend("goleveldb", func(key []byte) error { _, _, err := theirs.Find(key, true, nil); return err })}
	for _, form := range []struct {
		name string
		o    table.ReaderOptions
	}{
		{"mapped", table.ReaderOptions{Mapped: true}},
		{"mapped-without-checksums", table.ReaderOptions{Mapped: true, SkipChecksums: true}},
		{"read", table.ReaderOptions{}},
	} {
		r, err := table.Open(name, &form.o)
		noError(b, err)
		b.Cleanup(func() { r.Close() })
		var value []byte
		all = append(all, contend(form.name, func(key []byte) (err error) {
			value, err = r.AppendGet(value[:0], key)
			return err
		}))
	}
	return all
}
