package format

import (
	"strings"
	"testing"
)

// A key is within the bounds of a prefix and within others if and only if it starts with the prefix.
func TestWithinPrefix(t *testing.T) {
	t.Parallel()
	keys := []string{"", "\x00", "a", "a\x00", "a\xff", "a\xff\xff", "a\xff\xffb", "b", "\xfe\xff", "\xff", "\xff\x00", "\xff\xff", "\xff\xff\xff"}
	bounds := [][]byte{nil}
	for _, key := range keys {
		bounds = append(bounds, []byte(key))
	}
	within := func(key string, lower, upper []byte) bool {
		return key >= string(lower) && (upper == nil || key < string(upper))
	}
	for _, prefix := range append(keys, "none") {
		for _, lower := range bounds {
			for _, upper := range bounds {
				own := []byte(prefix)
				l, u := WithinPrefix(lower, upper, own)
				for _, key := range keys {
					if got, want := within(key, l, u), within(key, lower, upper) && strings.HasPrefix(key, prefix); got != want || string(own) != prefix {
						t.Errorf("WithinPrefix(%q, %q, %q) = %q, %q: key %q is within them: %v, prefix now %q", lower, upper, prefix, l, u, key, got, own)
					}
				}
			}
		}
	}
}
