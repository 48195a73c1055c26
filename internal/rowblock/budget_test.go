package rowblock_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Open takes the memory for keys that share bytes from its budget.
func TestIterOpenIsBounded(t *testing.T) {
	t.Parallel()
	data := build(t, 16, []pair{{"a" + strings.Repeat("k", 1000), "1"}, {"a" + strings.Repeat("l", 1000), "2"}})
	for _, compare := range []func(a, b []byte) int{nil, bytes.Compare} {
		var it rowblock.Iter
		budget := rowblock.Budget{Memory: 1000, Compared: 10_000}
		err := it.Open(data, rowblock.Order{Func: compare}, &budget)
		if err == nil || !strings.Contains(err.Error(), "key of 1001 bytes that shares bytes with the key before") || it.First() {
			t.Errorf("with 1000 bytes: Open = %v", err)
		}
		budget.Memory = 2000
		for range 3 { // the second time, the memory is there
			budget.Compared = 10_000
			if err := it.Open(data, rowblock.Order{Func: compare}, &budget); err != nil || len(forward(&it)) != 2 {
				t.Errorf("with 2000 bytes: %v", err)
			}
		}
		if budget.Memory != 999 {
			t.Errorf("memory of %d bytes is left, want 999", budget.Memory)
		}
	}
}

// Keys that grow within a block, and from one block to the next, take memory for the longest key only.
func TestMemoryIsForTheLongestKey(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, compare := range []func(a, b []byte) int{nil, bytes.Compare} {
		var it rowblock.Iter
		budget := rowblock.Budget{Memory: 10_000_000, Compared: math.MaxInt64}
		for n := 500_000; n < 1_000_000; n += 50_000 {
			var pairs []pair
			for i := range 20 {
				pairs = append(pairs, pair{strings.Repeat("k", n+100*i), ""})
			}
			if err := it.Open(build(t, 32, pairs), rowblock.Order{Func: compare}, &budget); err != nil {
				t.Fatalf("keys of %d bytes: %v", n, err)
			}
			if diff := cmp.Diff(pairs, forward(&it)); diff != "" {
				t.Error("other entries")
			}
		}
	}
}

// Memory for the keys of a block is allocated once, for the longest key that shares bytes. A key that shares none
// takes no memory: it is a part of the block.
func TestMemoryIsTakenOnceForABlock(t *testing.T) {
	t.Parallel()
	key := func(n int) string { return strings.Repeat("k", n) }
	for _, tt := range []struct {
		name   string
		pairs  []pair
		memory int // the smallest budget that suffices
	}{
		{"ever longer keys", []pair{{key(80_000), ""}, {key(150_000), ""}, {key(300_000), ""}}, 300_000},
		{"the first is the longest that shares", []pair{{key(80_000), ""}, {key(90_000), ""}, {key(89_000) + "l", ""}}, 90_000},
		{"the longest shares nothing", []pair{{key(80_000), ""}, {key(90_000), ""}, {"l" + key(300_000), ""}}, 90_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := build(t, 16, tt.pairs)
			for _, memory := range []int{tt.memory, tt.memory - 1} {
				var it rowblock.Iter
				err := it.Open(data, rowblock.Order{}, &rowblock.Budget{Memory: memory})
				if enough := memory == tt.memory; (err == nil) != enough {
					t.Errorf("with %d bytes: Open = %v", memory, err)
				}
			}
		})
	}
}

// Get rebuilds keys only up to the sought one, whatever follows.
func TestGetTakesNoMemoryForWhatIsBehind(t *testing.T) {
	t.Parallel()
	data := build(t, 16, []pair{
		{strings.Repeat("k", 70_000), "1"}, {strings.Repeat("k", 70_001), "2"}, {strings.Repeat("k", 300_000), "3"},
	})
	budget := rowblock.Budget{Memory: 200_000, Compared: math.MaxInt64}
	v, found, err := get(data, rowblock.Order{Func: bytes.Compare}, []byte(strings.Repeat("k", 70_001)), &budget)
	if string(v) != "2" || !found || err != nil {
		t.Errorf("Get = %q, %v, %v", v, found, err)
	}
}

// Get takes no more memory for a key than its budget. Keys of this length do not fit into pooled buffers.
func TestGetIsBounded(t *testing.T) {
	t.Parallel()
	data := build(t, 16, []pair{{"a" + strings.Repeat("k", 70_000), "1"}, {"a" + strings.Repeat("l", 70_000), "2"}})
	for memory, ok := range map[int]bool{70_000: false, 200_000: true} {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			budget := rowblock.Budget{Memory: memory, Compared: 1_000_000}
			if _, _, err := get(data, rowblock.Order{Func: bytes.Compare}, []byte("b"), &budget); (err == nil) != ok {
				t.Errorf("Get = %v", err)
			}
		})
	}
}

// SeekGE copies a key that shares bytes into the given buffer. Only if the buffer is too small does it allocate. A
// key that shares nothing is a part of the block.
func TestSeekGECopiesToTheBuffer(t *testing.T) {
	t.Parallel()
	first, second := "a"+strings.Repeat("k", 70_000), "a"+strings.Repeat("l", 70_000) // longer than pooled buffers
	data := build(t, 16, []pair{{first, "1"}, {second, "2"}})
	for _, tt := range []struct {
		key               string
		size, left, bytes int // capacity of buf before and after, and bytes allocated for the copy
	}{
		{first, 0, 0, 0},
		{second, 80_000, 80_000, 0},
		{second, 70_000, 70_001, 70_001},
	} {
		t.Run(fmt.Sprintf("first=%t/buffer=%d", tt.key == first, tt.size), func(t *testing.T) {
			budget, buf := rowblock.Budget{Memory: 1 << 20}, make([]byte, tt.size)
			k, v, found, err := rowblock.SeekGE(&buf, data, rowblock.Order{}, []byte(tt.key), &budget)
			if string(k) != tt.key || len(k) != cap(k) || len(v) != 1 || !found || err != nil || cap(buf) != tt.left {
				t.Errorf("SeekGE = %.9q, %q, %v, %v, and a buffer of %d", k, v, found, err, cap(buf))
			}
			copied := rowblock.Budget{Memory: 1 << 20}
			if _, _, _, err := rowblock.SeekGE(new([]byte), data, rowblock.Order{}, []byte(tt.key), &copied); err != nil {
				t.Fatal(err)
			}
			if saved := budget.Memory - copied.Memory; tt.key == second && saved != len(second)-tt.bytes {
				t.Errorf("the buffer saves %d bytes, want %d", saved, len(second)-tt.bytes)
			}
		})
	}
}

// Open, Get and SeekGE succeed with exactly the Compared budget that they use, and fail with a byte less.
func TestComparedIsWhatSuffices(t *testing.T) {
	t.Parallel()
	data := build(t, 16, []pair{{"ka", "1"}, {"kab", "2"}, {"kb", "3"}, {"l", "4"}})
	order := rowblock.Order{Func: bytes.Compare}
	for name, use := range map[string]func(*rowblock.Budget) error{
		"Open": func(b *rowblock.Budget) error { return new(rowblock.Iter).Open(data, order, b) },
		"Get":  func(b *rowblock.Budget) error { _, _, err := get(data, order, []byte("kb"), b); return err },
		"SeekGE": func(b *rowblock.Budget) error {
			_, _, _, err := rowblock.SeekGE(new([]byte), data, order, []byte("kc"), b)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			const plenty = 1_000_000
			budget := rowblock.Budget{Memory: plenty, Compared: plenty}
			if err := use(&budget); err != nil || budget.Compared == plenty {
				t.Fatalf("of %d bytes, %d are left: %v", plenty, budget.Compared, err)
			}
			used := plenty - budget.Compared
			if err := use(&rowblock.Budget{Memory: plenty, Compared: used}); err != nil {
				t.Errorf("with the %d bytes that it takes: %v", used, err)
			}
			err := use(&rowblock.Budget{Memory: plenty, Compared: used - 1})
			if err == nil || !strings.Contains(err.Error(), "comparing them is bounded") {
				t.Errorf("with less than the %d bytes that it takes: %v", used, err)
			}
		})
	}
}
