package cli

import (
	"strings"
	"testing"
)

// A wrong name of a flag is answered with the nearest right one, if there is one.
func TestIsNear(t *testing.T) {
	for _, tt := range []struct {
		wrong, name string
		want        bool
	}{
		{"lmit", "limit", true}, {"limits", "limit", true}, {"fro", "from", true}, {"form", "from", false},
		{"compresion", "compression", true}, {"comp", "compression", true}, {"compress-ion", "compression", true},
		{"x", "xyz", false}, {"to", "no", false}, {"", "to", false}, {"from", "format", false}, {strings.Repeat("x", 1000), "from", false},
	} {
		if got := isNear(tt.wrong, tt.name); got != tt.want {
			t.Errorf("isNear(%.20q, %q) = %t", tt.wrong, tt.name, got)
		}
	}
}
