package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// writePagedSet writes a set of one table, which has a paged filter, and returns the path of the table.
func writePagedSet(t *testing.T, dir string, o *table.WriterOptions, describe *table.ReaderOptions) string {
	t.Helper()
	var out bytes.Buffer
	w, err := set.NewTableWriter(&out, o)
	noError(t, err)
	for i := range 1000 {
		noError(t, w.Append(fmt.Appendf(nil, "key%04d", i), nil))
	}
	line, err := w.Close()
	if err == nil && describe != nil {
		line, err = set.Describe(bytes.NewReader(out.Bytes()), int64(out.Len()), describe)
	}
	noError(t, err)
	line.Name = "a.ldb"
	path := filepath.Join(dir, line.Name)
	writeFile(t, path, out.Bytes())
	(&layeredSet{dir: dir, m: set.Manifest{Tables: []set.Table{line}}}).writeManifest(t)
	return path
}

// A table's tail may or may not include the pages of its filter, depending on how its writer reads them. verify
// accepts both.
func TestTailsOfPagedFilters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy    filter.TablePolicy
		describes *table.ReaderOptions
	}{
		"by page":                 {paged.Policy{}, nil},
		"in memory":               {paged.Policy{}.InMemory(), nil},
		"described":               {paged.Policy{}, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}}},
		"described without":       {paged.Policy{}, &table.ReaderOptions{}},
		"in memory and described": {paged.Policy{}.InMemory(), &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}}},
	} {
		for _, blocks := range []filter.Policy{nil, filter.NewBloom(10)} {
			dir := t.TempDir()
			writePagedSet(t, dir, &table.WriterOptions{TableFilterPolicy: tt.policy, FilterPolicy: blocks}, tt.describes)
			for _, args := range [][]string{{"verify", dir}, {"get", dir, "key0007"}} {
				if status, out, stderr := sst(args...); status != 0 {
					t.Errorf("%s, filters of blocks %v: sst %q: status %d: %s%s", name, blocks != nil, args, status, out, stderr)
				}
			}
		}
	}
}

// If a table has only a filter, a damaged page gives no answer, and verify names the filter.
func TestDamagedPagesOfFilters(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"page": 100, "trailer": 4096 + 5} {
		dir := t.TempDir()
		path := writePagedSet(t, dir, &table.WriterOptions{TableFilterPolicy: paged.Policy{}, FilterOnly: true}, nil)
		flipAt(t, path, at)
		for _, args := range [][]string{{"verify", dir}, {"verify", path}, {"get", dir, "key0007"}, {"get", path, "key0007"}, {"get", path, "absent"}} {
			status, out, stderr := sst(args...)
			if said := out + stderr; status != cli.ExitDamaged || strings.Contains(said, "may be present") || !strings.Contains(said, "table filter block at 0") {
				t.Errorf("a damaged %s: sst %q: status %d: %s", name, args, status, said)
			}
		}
	}
}
