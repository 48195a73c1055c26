package set_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// BenchmarkMaxOpenFiles looks up present keys of 600 tables in random order, without a Cache: with few files, most
// lookups open one.
func BenchmarkMaxOpenFiles(b *testing.B) {
	const tables = 600
	dir := b.TempDir()
	writeTables(b, dir, filtered, tables, perTable)
	for _, files := range []int{1, 60, 300, tables} {
		b.Run(fmt.Sprint("files=", files), func(b *testing.B) {
			s := openDir(b, dir, &set.Options{OpenAll: true, MaxOpenFiles: files})
			b.RunParallel(func(pb *testing.PB) {
				rng := rand.New(rand.NewPCG(rand.Uint64(), 28))
				for pb.Next() {
					if _, err := s.Get(background, []byte(key(rng.IntN(tables*perTable)))); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
