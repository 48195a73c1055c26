package tablefilter

import (
	"bytes"
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

// There is a note if a filter is too small for its keys, although their number was not known before.
func TestGenerateNotesFewBits(t *testing.T) {
	t.Parallel()
	for keys, want := range map[uint64]string{
		429_000_000: "",
		500_000_000: "sst: note: a table-bloom filter has at most 512 MiB, so for 500,000,000 keys it has 8.59 bits per key, not 10\n",
	} {
		var stderr bytes.Buffer
		g := &checkedGenerator{TableGenerator: ready{}, Checked: Checked{TablePolicy: filter.NewTableBloom(10), Stderr: &stderr}, n: keys}
		if _, err := g.Generate(); err != nil || stderr.String() != want {
			t.Errorf("%d keys: %q, error %v", keys, &stderr, err)
		}
	}
}

// ready is a generator whose filter takes no memory.
type ready struct{ filter.TableGenerator }

func (ready) Generate() ([]byte, error) { return []byte{0}, nil }
