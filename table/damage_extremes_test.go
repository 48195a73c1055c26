package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// filterOfKeys is one filter of 10 bits per key.
func filterOfKeys(keys ...string) string {
	g := filter.NewBloom(10).NewGenerator()
	for _, k := range keys {
		g.Add([]byte(k))
	}
	var b filter.Bytes
	g.Generate(&b)
	return string(b)
}

// Keys that a filter denies are named though the rest takes too long to ask
// for; and though it has them without their last 8 bytes.
func TestVerifyNamesKeysBeforeALongRun(t *testing.T) {
	long.NoRace(t)
	key := "user\x00\x00\x00\x00\x00\x00\x00\x01"
	for name, held := range map[string]string{"denied": "other", "denied, but not its start": "user"} {
		var f rawtable.File
		h1 := f.Block(rawtable.Entries("m", "1", key, "2"))
		f.Bytes = append(f.Bytes, make([]byte, 2048-len(f.Bytes))...)
		h2 := f.Block(longRun(strings.Repeat("v", 1<<20), 5000))
		first := filterOfKeys("m", held)
		all := strings.Repeat("\xff", 8) + "\x06"
		block := f.Block(filterBlock(first+all, 11, 0, uint32(len(first))))
		metaindex := f.Block(rawtable.Entries(bloomName, block))
		in := inspect(t, name, f.Footer(metaindex, f.Block(rawtable.Entries("user\xff", h1, "w", h2))), nil, nil)
		for _, want := range []string{"over 320 times as long as the blocks", fmt.Sprintf("denies 1 of 2 keys of the data block at 0: %q", key)} {
			if !strings.Contains(fmt.Sprint(in.verified), want) {
				t.Errorf("%s: Verify = %v, want %s", name, in.verified, want)
			}
		}
	}
}

// A key that a damaged filter denies makes no database's table, even if the
// filter has the empty key, which any key of 8 bytes ends before.
func TestDamageIsNoHint(t *testing.T) {
	contents := oneBlock(raw(rawtable.Entries("", "0", "key00001", "1", "key00012", "2")))
	contents = bytes.Replace(contents, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x06"), []byte(filterOfKeys("", "key00001")), 1)
	rawtable.Repair(contents)
	in := inspect(t, "8-byte keys", contents, nil, nil)
	if !errors.Is(in.verified, table.ErrCorrupt) || !strings.Contains(fmt.Sprint(in.verified), `at 0: "key00012"`) {
		t.Errorf("Verify = %v, want the key that is denied", in.verified)
	}
}

// Many and long names in the metaindex, of filters and with handles of nothing.
func TestMetaindexOfLongNames(t *testing.T) {
	long.NoRace(t)
	name := "filter." + strings.Repeat("a", 1<<20)
	for _, handle := range []string{"", rawtable.Handle(0, 1), rawtable.Handle(1<<40, 1)} {
		for _, n := range []int{900, 10_000} {
			b := []byte(rawtable.Entry(0, name, handle))
			for i := range n {
				b = append(b, rawtable.Entry(uint64(len(name)), string(binary.BigEndian.AppendUint32(nil, uint32(i))), handle)...)
			}
			p := sound()
			p.meta = func(string) string { return string(b) + rawtable.Restarts(0) }
			in := inspect(t, fmt.Sprintf("%d names of handle %x", n, handle), p.build(), nil, truthOf(soundPairs...))
			if in.opened != nil || in.entries != 4 || !errors.Is(in.verified, table.ErrCorrupt) {
				t.Errorf("%s: NewReader = %v, %d entries", in.name, in.opened, in.entries)
			}
		}
	}
}

// zeros is a Snappy block of a head, n zeros and an end.
func zeros(head string, n int, end string) stored {
	return stored{string(snappy.Encode(nil, append([]byte(head), string(make([]byte, n))+end...))), 1}
}

// The largest blocks that their bytes can make, each read once.
func TestBlocksOfZeros(t *testing.T) {
	needsMemory(t)
	const n = 300 << 20
	var f rawtable.File
	meta := zeros(rawtable.Lengths(0, 9, n)+"rocksdb.x", n, rawtable.Restarts(0))
	metaindex := f.Stored(meta.contents, meta.id)
	inspect(t, "metaindex of an empty table", f.Footer(metaindex, f.Block(rawtable.Entries())), nil, nil)

	contents := oneBlock(zeros(rawtable.Lengths(0, 1, n)+"a", n, rawtable.Restarts(0)))
	inspect(t, "one value", contents, nil, nil)
	r := open(t, contents, nil)
	before := allocated()
	v, err := r.AppendGet(nil, []byte("a"))
	if got, most := allocated()-before, uint64(64<<20+32*len(contents)); err != nil || len(v) != n || got > most {
		t.Errorf("AppendGet = %d bytes, %v; allocated %d bytes, want at most %d", len(v), err, got, most)
	}
	before = allocated()
	values, err := getMany(r, slices.Repeat([][]byte{[]byte("a")}, 20), nil) // they share memory
	if got, most := allocated()-before, uint64(64<<20+32*len(contents)); err != nil || len(values[19]) != n || got > most {
		t.Errorf("GetMany = %v; allocated %d bytes, want at most %d", err, got, most)
	}
}
