package dbread

import (
	"crypto/sha256"
	"fmt"

	"github.com/sievetable/sievetable/table"
)

// CheckUnset returns an error if an option of Readers is set that a package does not take. why has the reason for each
// such option.
func CheckUnset(pkg string, r *table.ReaderOptions, why map[string]string) error {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"Name", r.Name != ""},
		{"CacheKey", r.CacheKey != ""},
		{"TailSum", r.TailSum != [sha256.Size]byte{}},
		{"TailSize", r.TailSize != 0},
		{"Comparer", r.Comparer != nil},
		{"FilterKey", r.FilterKey != nil},
	} {
		if reason := why[option.name]; option.set && reason != "" {
			return fmt.Errorf("%s: Reader.%s must not be set: %s", pkg, option.name, reason)
		}
	}
	return nil
}
