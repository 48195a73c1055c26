package dbread

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table"
)

// OwnOptions clones the slices of r, since the caller may change them before a table is opened. It returns an error
// for an invalid option, and for an option that package pkg does not allow: why maps the names of these to the
// reasons.
func OwnOptions(pkg string, r *table.ReaderOptions, why map[string]string) error {
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
	r.FilterPolicies, r.TableFilterPolicies = slices.Clone(r.FilterPolicies), slices.Clone(r.TableFilterPolicies)
	r.Codecs, r.FilterPrefixes = slices.Clone(r.Codecs), slices.Clone(r.FilterPrefixes)
	// An empty file is corrupt, which NewReader reports only if the options are valid.
	if _, err := table.NewReader(bytes.NewReader(nil), 0, r); !errors.Is(err, table.ErrCorrupt) {
		return err
	}
	return nil
}
