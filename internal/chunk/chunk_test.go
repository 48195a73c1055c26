package chunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Pairs are sorted by their keys, with and without a prefix, also when a Chunk is used again.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	c := Chunk{Max: 1 << 20}
	for _, prefix := range []func([]byte) []byte{
		func([]byte) []byte { return nil },
		func(key []byte) []byte { return key },
		func(key []byte) []byte { return key[:min(len(key), 7)] },
	} {
		var want []string
		for i, n := range r.Perm(1000) {
			key := fmt.Sprintf("%s%d", strings.Repeat("k", 5*r.IntN(2)), n)
			value := strings.Repeat("v", i%300)
			if !c.Fits([]byte(key), []byte(value)) {
				t.Fatalf("pair %d does not fit", i)
			}
			c.Append([]byte(key), []byte(value))
			want = append(want, key+"="+value)
		}
		slices.SortFunc(want, func(a, b string) int {
			keyA, _, _ := strings.Cut(a, "=")
			keyB, _, _ := strings.Cut(b, "=")
			return strings.Compare(keyA, keyB)
		})
		c.Sort(bytes.Compare, prefix)
		var got []string
		for i := range c.Len() {
			key, value := c.Pair(i)
			got = append(got, fmt.Sprintf("%s=%s", key, value))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pairs (-want +got):\n%.2000s", diff)
		}
		c.Reset()
	}
}

// An empty Chunk has room for a pair of any size. Otherwise a Chunk takes at most Max bytes.
func TestFits(t *testing.T) {
	c := Chunk{Max: 100}
	for i, want := range []bool{true, true, true, false} {
		if got := c.Fits([]byte("key"), make([]byte, 5)); got != want {
			t.Errorf("pair %d fits: %v, want %v", i, got, want)
		}
		c.Append([]byte("key"), make([]byte, 5))
	}
	c.Reset()
	c.Sort(bytes.Compare, func(key []byte) []byte { return key }) // nothing
	if !c.Fits(make([]byte, 100), make([]byte, 100)) {
		t.Error("a large pair does not fit")
	}
}
