package tablefile

import (
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/encoded"
)

// kept returns how many bytes of a block's buffers lookups and an iterator leave to the next one, and how many of the
// block's entries, which refer to the buffers.
func kept(t *testing.T, size int) (lookup, iter, entries int) {
	s := Scratch{stored: make([]byte, size)}
	s.empty()
	m := &Memory{Scratch: Scratch{decompressed: make([]byte, size)}, SeekKey: make([]byte, size)}
	w, err := block.NewWriter(1, block.Order{})
	if err == nil {
		err = w.Append([]byte("key"), nil)
	}
	if err == nil {
		err = m.entries.Decode(w.Finish(), encoded.Order{})
	}
	if err != nil {
		t.Fatal(err)
	}
	m.empty()
	return cap(s.stored), cap(m.decompressed) + cap(m.SeekKey), m.entries.Size()
}

// The buffers of a block of 4 KiB are used again. Those of a huge one do not stay in memory for ever.
func TestHugeBuffersAreNotKept(t *testing.T) {
	t.Parallel()
	if lookup, iter, entries := kept(t, 4<<10); lookup != 4<<10 || iter != 2*4<<10 || entries == 0 {
		t.Errorf("of 4 KiB, a lookup keeps %d bytes and an Iter %d and %d of entries, want all", lookup, iter, entries)
	}
	if lookup, iter, entries := kept(t, 2<<20); lookup != 0 || iter != 0 || entries != 0 {
		t.Errorf("of 2 MiB, a lookup keeps %d bytes and an Iter %d and %d of entries, want none", lookup, iter, entries)
	}
}

// A data block of 4 GiB or more, which no Reader reads, has its place in the index, and the index no search tree.
func TestIndexOfAHugeBlock(t *testing.T) {
	t.Parallel()
	x := indexOf(t, [][]byte{[]byte("a"), []byte("b"), []byte("c")}, encoded.Order{}, 1)
	want, err := x.Handle(2)
	if err != nil || !x.Build() {
		t.Fatalf("Handle = %v, %v, and the tree is built: %t", want, err, x.IsBuilt())
	}
	if got, err := x.Handle(2); got != want || err != nil {
		t.Errorf("with the tree, Handle = %v, %v; want %v", got, err, want)
	}
	w, err := block.NewWriter(1, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	handles := []Handle{{0, 1}, {6, 1 << 40}, {1<<40 + 11, 7}}
	for i, h := range handles {
		if err := w.Append([]byte{'a' + byte(i)}, h.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	f := &File{o: new(Options), FooterOffset: 1 << 41, Footer: Footer{Handle{1 << 41, 1}, Handle{1<<41 + 6, 1}}}
	if f.Index, err = f.newIndex(w.Finish()); err != nil {
		t.Fatal(err)
	}
	if f.Index.Build() {
		t.Error("a search tree cannot hold 2^40 bytes as the length of a block")
	}
	for i, want := range handles {
		if got, err := f.Index.Handle(i); got != want || err != nil {
			t.Errorf("Handle(%d) = %v, %v; want %v", i, got, err, want)
		}
	}
}
