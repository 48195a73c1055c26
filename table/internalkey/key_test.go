package internalkey_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/internalkey"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key   internalkey.Key
		bytes string
		text  string
	}{
		{internalkey.Key{UserKey: []byte("foo"), Sequence: 1, Kind: internalkey.Set}, "foo\x01\x01\x00\x00\x00\x00\x00\x00", `"foo" @ 1 : set`},
		{internalkey.Key{UserKey: []byte{}, Sequence: 0x0102}, "\x00\x02\x01\x00\x00\x00\x00\x00", `"" @ 258 : delete`},
		{internalkey.Key{UserKey: []byte("k"), Sequence: internalkey.MaxSequence, Kind: 7}, "k\x07\xff\xff\xff\xff\xff\xff\xff", `"k" @ 72057594037927935 : kind 7`},
	} {
		if got := string(tt.key.Append([]byte("dst "))); got != "dst "+tt.bytes {
			t.Errorf("%v: Append = %q, want %q behind dst", tt.key, got, tt.bytes)
		}
		got, ok := internalkey.Parse([]byte(tt.bytes))
		if diff := cmp.Diff(tt.key, got); !ok || diff != "" {
			t.Errorf("Parse(%q): %v (-want +got):\n%s", tt.bytes, ok, diff)
		}
		if diff := cmp.Diff(tt.key.UserKey, internalkey.UserKey([]byte(tt.bytes))); diff != "" {
			t.Errorf("UserKey(%q) (-want +got):\n%s", tt.bytes, diff)
		}
		if got.String() != tt.text {
			t.Errorf("Parse(%q) = %v, want %s", tt.bytes, got, tt.text)
		}
	}
	for n := range 8 {
		key := make([]byte, n)
		if got, ok := internalkey.Parse(key); ok || internalkey.UserKey(key) != nil {
			t.Errorf("Parse of %d bytes = %v, want none", n, got)
		}
	}
}

func ExampleParse() {
	k, ok := internalkey.Parse([]byte("user\x01\x2a\x00\x00\x00\x00\x00\x00"))
	fmt.Println(k, ok)
	// Output: "user" @ 42 : set true
}
