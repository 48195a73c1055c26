package tablefilter

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/errtest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	fuse12, err12 := fuse.New(12)
	fuse16, err16 := fuse.New(16)
	paged14, err14 := paged.New(14)
	errtest.NoError(t, errors.Join(err12, err16, err14))
	for name, want := range map[string]filter.TablePolicy{
		"none":             nil,
		"table-bloom":      filter.NewTableBloom(10),
		"table-bloom:1":    filter.NewTableBloom(1),
		"table-bloom:1000": filter.NewTableBloom(1000),
		"fuse":             fuse12,
		"fuse:16":          fuse16,
		"paged":            paged14,
	} {
		got, err := Parse(name)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(filter.TableBloom{}, fuse.Policy{}, paged.Policy{})); diff != "" || err != nil {
			t.Errorf("Parse(%q) returns %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ":", "None", "none:", "none:0", "table-bloom:", "table-bloom:0", "table-bloom:-1", "table-bloom:1001", "table-bloom:10.5", "table-bloom:10:1", "table-bloom:99999999999999999999",
		"fuse:", "fuse:0", "fuse:9", "fuse:13", "fuse:x", "fuse 12", "xor:8",
		"bloom", "bloom:10", "table-bloom:+10", "table-bloom:010", "table-bloom:-0", "table-bloom: 10", "fuse:012", "fuse:+12",
	} {
		got, err := Parse(name)
		if err == nil || !strings.Contains(err.Error(), "not table-bloom:BITS") {
			t.Errorf("Parse(%q) returns %v, %v", name, got, err)
		}
	}
}
