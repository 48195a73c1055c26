package table_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
)

var boundKeys = []string{"", "\x00", "a", "a\x00", "a\xff", "a\xff\xff", "a\xff\xffb", "b", "\xfe\xff", "\xff", "\xff\x00", "\xff\xff", "\xff\xff\xff"}

// Keys are within the bounds if they have the prefix, and only then.
func TestPrefixBounds(t *testing.T) {
	t.Parallel()
	for _, prefix := range append(boundKeys, "none") {
		lower, upper := table.PrefixBounds([]byte(prefix))
		for _, key := range boundKeys {
			within := key >= string(lower) && (upper == nil || key < string(upper))
			if within != strings.HasPrefix(key, prefix) {
				t.Errorf("PrefixBounds(%q) = %q, %q: key %q is within them: %v", prefix, lower, upper, key, within)
			}
		}
	}
}

// So are internal keys, of whatever version.
func TestInternalPrefixBounds(t *testing.T) {
	t.Parallel()
	compare := table.InternalComparer(table.BytewiseComparer).Compare
	for _, prefix := range append(boundKeys, "none") {
		own := []byte(prefix)
		lower, upper := table.InternalPrefixBounds(own)
		for _, user := range boundKeys {
			for _, version := range []table.InternalKey{
				{Sequence: 0, Kind: table.KindDelete}, {Sequence: 7, Kind: table.KindSet}, {Sequence: table.MaxSequence, Kind: table.KindSet},
			} {
				version.UserKey = []byte(user)
				key := version.Append(nil)
				within := compare(key, lower) >= 0 && (upper == nil || compare(key, upper) < 0)
				if within != strings.HasPrefix(user, prefix) {
					t.Errorf("InternalPrefixBounds(%q) = %q, %q: key %q is within them: %v", prefix, lower, upper, key, within)
				}
			}
		}
		if !bytes.Equal(own, []byte(prefix)) {
			t.Errorf("InternalPrefixBounds changed its prefix %q to %q", prefix, own)
		}
	}
}

// tableOf returns a Reader of a table that has the keys, all with the same value.
func tableOf(c table.Comparer, value string, keys ...[]byte) *table.Reader {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, &table.WriterOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range keys {
		if err := w.Append(k, []byte(value)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	r, err := table.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), &table.ReaderOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

func ExamplePrefixBounds() {
	r := tableOf(table.BytewiseComparer, "", []byte("page/1"), []byte("user/1"), []byte("user/2"), []byte("view/1"))
	defer r.Close()
	lower, upper := table.PrefixBounds([]byte("user/"))
	for e, err := range r.All(&table.IterOptions{Lower: lower, Upper: upper}) {
		fmt.Println(string(e.Key), err)
	}
	// Output:
	// user/1 <nil>
	// user/2 <nil>
}

func ExampleInternalPrefixBounds() {
	page := table.InternalKey{UserKey: []byte("page/1"), Sequence: 1, Kind: table.KindSet}
	user := table.InternalKey{UserKey: []byte("user/1"), Sequence: 2, Kind: table.KindSet}
	r := tableOf(table.InternalComparer(table.BytewiseComparer), "", page.Append(nil), user.Append(nil))
	defer r.Close()
	lower, upper := table.InternalPrefixBounds([]byte("user/"))
	for e, err := range r.All(&table.IterOptions{Lower: lower, Upper: upper}) {
		key, _ := table.ParseInternalKey(e.Key)
		fmt.Println(string(key.UserKey), key.Sequence, err)
	}
	// Output:
	// user/1 2 <nil>
}
