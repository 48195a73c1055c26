package fuse_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// The first 8 bytes of the SHA-256 of filters that Pebble built, at commit f82e3ff7 of May
// 2026. They have the keys key000000, key000001 and so on.
func TestFiltersHavePebblesBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits, n int
		want    string
	}{
		{4, 1, "40a4ede4e01ae3a9"},
		{4, 7, "5c2b48cc42e10e0b"},
		{4, 1000, "a5862f293e582ada"},
		{4, 50000, "2c6e81bca30eacb9"},
		{8, 1, "0027e6620e88b4f4"},
		{8, 7, "66e0aa8db2ef8ca5"},
		{8, 1000, "867a74888c576604"},
		{8, 50000, "f487847fc1450f51"},
		{10, 1, "c6134b3568feb3a1"},
		{10, 7, "ceaba52a8b28ce24"},
		{10, 1000, "24859475a6ac904c"},
		{10, 50000, "7c75d925198a0002"},
		{12, 1, "b86e6a42fe8e854d"},
		{12, 7, "037190b6c2cee5d9"},
		{12, 1000, "7238d6fccc35995c"},
		{12, 50000, "b08bf9e8b3b5a5e0"},
		{16, 1, "b7549e484a05a9f4"},
		{16, 7, "95c39b9b7027e7f7"},
		{16, 1000, "3ce1cf3c896a8fe6"},
		{16, 50000, "3890e0106e845f21"},
	} {
		t.Run(fmt.Sprintf("bits=%d/keys=%d", c.bits, c.n), func(t *testing.T) {
			var keys [][]byte
			for i := range c.n {
				keys = append(keys, fmt.Appendf(nil, "key%06d", i))
			}
			if sum := sha256.Sum256(buildKeys(t, newPolicy(t, c.bits), keys)); fmt.Sprintf("%x", sum[:8]) != c.want {
				t.Errorf("the filter's digest is %x, want %s", sum[:8], c.want)
			}
		})
	}
}
