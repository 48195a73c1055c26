package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// However the manifest of a set is cut short, with or without layers: it is damage, and sst says that the file ends
// within a line exactly if it does. The manifest of a newer version is no damage.
func TestManifestsOfSetsCutShort(t *testing.T) {
	t.Parallel()
	for layers := range 3 {
		rng := rand.New(rand.NewPCG(uint64(layers), 51))
		s := newLayeredSet(t, rng, layers)
		path := filepath.Join(s.dir, "set.jsonl")
		whole := readFile(t, path)
		first := bytes.IndexByte(whole, '\n')
		for _, size := range []int{1, first, first + 1, len(whole) - 1, 1 + rng.IntN(len(whole)-1), 1 + rng.IntN(len(whole)-1)} {
			writeFile(t, path, whole[:size])
			for _, command := range []string{"scan", "verify"} {
				status, out, stderr := sst(command, s.dir)
				isWithin := strings.Contains(out+stderr, "the manifest is cut short (it ends within a line). Restore it from a copy")
				if size == len(whole)-1 && status == cli.ExitOK { // only the newline is missing
					continue
				}
				if status != cli.ExitDamaged || isWithin != (whole[size-1] != '\n') {
					t.Errorf("%d layers, %d of %d bytes: sst %s: status %d, %s%s", layers, size, len(whole), command, status, out, stderr)
				}
			}
		}
		for version := range 6 {
			line := fmt.Sprintf(`{"format":"sievetable-set","version":%d,"tables":7}`, version)
			writeFile(t, path, append([]byte(line), whole[first:]...))
			want := cli.ExitDamaged
			if version > 3 {
				want = cli.ExitUsage
			}
			if status, _, stderr := sst("scan", s.dir); status != want {
				t.Errorf("version %d: status %d, want %d: %s", version, status, want, stderr)
			}
		}
	}
}
