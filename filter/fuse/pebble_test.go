package fuse_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// The first 8 bytes of the SHA-256 of filters that Pebble built, at commit f82e3ff7 of May
// 2026. They have the keys key000000, key000001 and so on.
func TestFiltersHavePebblesBytes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	sizes := []int{1, 7, 1000, 50_000}
	for bits, want := range map[int][]string{
		4:  {"40a4ede4e01ae3a9", "5c2b48cc42e10e0b", "a5862f293e582ada", "2c6e81bca30eacb9"},
		8:  {"0027e6620e88b4f4", "66e0aa8db2ef8ca5", "867a74888c576604", "f487847fc1450f51"},
		10: {"c6134b3568feb3a1", "ceaba52a8b28ce24", "24859475a6ac904c", "7c75d925198a0002"},
		12: {"b86e6a42fe8e854d", "037190b6c2cee5d9", "7238d6fccc35995c", "b08bf9e8b3b5a5e0"},
		16: {"b7549e484a05a9f4", "95c39b9b7027e7f7", "3ce1cf3c896a8fe6", "3890e0106e845f21"},
	} {
		for i, n := range sizes {
			var keys [][]byte
			for k := range n {
				keys = append(keys, fmt.Appendf(nil, "key%06d", k))
			}
			if sum := sha256.Sum256(filtertest.BuildTable(t, newPolicy(t, bits), keys...)); fmt.Sprintf("%x", sum[:8]) != want[i] {
				t.Errorf("%d bits, %d keys: the filter's digest is %x, want %s", bits, n, sum[:8], want[i])
			}
		}
	}
}
