package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// The files in testdata are from the last sieve whose states did not grow. Each contains the lines "line 1",
// "line 2" and so on, except false positives. They can be read, and accept further lines like new states.
func TestFilesOfTheFirstVersion(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		given, lines int
		rate         float64
	}{
		"empty":    {0, 0, 0.5},
		"fixed":    {500, 500, 0.01},
		"full":     {1000, 1000, 0.01},
		"overfull": {3000, 2764, 0.01},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := filepath.Join("testdata", name+".state"), t.TempDir()
			contents, err := os.ReadFile(path)
			noError(t, err)
			path = filepath.Join(dir, "state")
			noError(t, os.WriteFile(path, contents, 0o666))
			s := open(t, path, 0, 0.2)
			if s.Lines() != uint64(tt.lines) || s.Rate() != tt.rate {
				t.Errorf("%d lines, rate %g, want %d, %g", s.Lines(), s.Rate(), tt.lines, tt.rate)
			}
			if over := s.PresentRate() > 1.1*s.Rate(); over != (tt.given > 1000) {
				t.Errorf("overfull: %t, rate %g", over, s.PresentRate())
			}
			noError(t, s.Close())
			if after := files(t, dir)["state"]; after != string(contents) {
				t.Error("opening the state has changed it")
			}
			goesOn(t, path, tt.given)
		})
	}
}

// goesOn adds lines to a state that contains the first ones, saves it now and then, and checks that it contains
// all.
func goesOn(t *testing.T, path string, lines int) {
	t.Helper()
	s := open(t, path, 0, 0.2)
	for i := 1; i <= 50_000; i++ {
		added, err := s.Add(fmt.Append(nil, "line ", i))
		if err != nil || added && i <= lines {
			t.Fatalf("line %d of %d: added %t, %v", i, lines, added, err)
		}
		if i%20_000 == 0 {
			noError(t, errors.Join(s.Save(), s.Close()))
			s = open(t, path, 0, 0.2)
		}
	}
	for i := 1; i <= 50_000; i++ {
		if added, err := s.Add(fmt.Append(nil, "line ", i)); added || err != nil {
			t.Fatalf("line %d comes again: %v", i, err)
		}
	}
	noError(t, s.Close())
}

// writeFixed writes an empty state of the first version with these numbers.
func writeFixed(t *testing.T, n numbers) (path string) {
	t.Helper()
	f, err := blocked.New(10, 0.01)
	noError(t, err)
	trailer, err := binary.Append([]byte(trailerMagic), binary.LittleEndian, n)
	noError(t, err)
	trailer = binary.LittleEndian.AppendUint32(trailer, crc32.Checksum(trailer, castagnoli))
	path = filepath.Join(t.TempDir(), "state")
	noError(t, os.WriteFile(path, append(f.Bytes(), trailer...), 0o666))
	return path
}

// The smallest and the largest numbers of the first version can be read, and written as a Growing.
func TestPossibleNumbers(t *testing.T) {
	t.Parallel()
	for _, want := range []numbers{{Keys: 1, Rate: MinRate}, {Keys: MaxKeys, Rate: MaxRate, Lines: maxLines}, {Keys: 10, Rate: math.Nextafter(MaxRate, 0), Lines: 1}} {
		path := writeFixed(t, want)
		for range 2 {
			s := open(t, path, 10, 0.01)
			if lines := min(want.Lines, 1<<56); s.Rate() != want.Rate || s.Lines() != lines {
				t.Errorf("%g, %d; want %g, %d", s.Rate(), s.Lines(), want.Rate, lines)
			}
			noError(t, errors.Join(s.Save(), s.Close()))
		}
	}
}

// Numbers that no State can have are damage, even if the checksum matches.
func TestImpossibleNumbers(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]numbers{
		"no keys":         {0, 0.01, 1},
		"too many keys":   {math.MaxUint64, 0.01, 1},
		"too many lines":  {10, 0.01, math.MaxUint64},
		"a negative rate": {10, -1, 1},
		"too high a rate": {10, 1e300, 1},
		"no rate":         {10, math.NaN(), 1},
	} {
		path := writeFixed(t, n)
		before := files(t, filepath.Dir(path))["state"]
		if s, err := Open(path, 10, 0.01); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("%s: Open = %v, %v; want damage", name, s, err)
		}
		if diff := cmp.Diff(before, files(t, filepath.Dir(path))["state"]); diff != "" {
			t.Errorf("%s: the file changed:\n%s", name, diff)
		}
	}
}
