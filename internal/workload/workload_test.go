package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

func checkSet(t *testing.T, s Set) {
	t.Helper()
	present := map[string]bool{}
	for i, k := range s.Keys {
		if i > 0 && bytes.Compare(s.Keys[i-1], k) >= 0 {
			t.Fatalf("key %d, %q, is not > the one before", i, k)
		}
		present[string(k)] = true
	}
	for _, k := range s.Absent {
		if present[string(k)] {
			t.Errorf("%q is both present and absent", k)
		}
	}
	order := slices.Clone(s.Hits)
	slices.Sort(order)
	for i, h := range order {
		if i != h {
			t.Fatalf("hit %d is missing", i)
		}
	}
	if len(s.Values) != len(s.Keys) || len(s.Absent) != len(s.Keys) || len(s.Hits) != len(s.Keys) {
		t.Errorf("%d keys, %d values, %d absent, %d hits; want as many of each",
			len(s.Keys), len(s.Values), len(s.Absent), len(s.Hits))
	}
}

func TestW1(t *testing.T) {
	t.Parallel()
	s := W1(10_000)
	checkSet(t, s)
	if got, want := s.Bytes(), int64(10_000*116); got != want {
		t.Errorf("Bytes = %d, want %d", got, want)
	}
	// Figures are comparable only if everybody measures these very keys.
	if got, want := string(s.Keys[0]), "user000081368073"; got != want {
		t.Errorf("first key = %q, want %q", got, want)
	}
	v := s.Values[0]
	if !bytes.Equal(v[:50], v[50:]) || bytes.Equal(v, s.Values[1]) {
		t.Errorf("value %x is not 50 bytes of its own, twice", v)
	}
}

func TestW3(t *testing.T) {
	t.Parallel()
	s := W3(10_000)
	checkSet(t, s)
	if got, want := s.Bytes(), int64(10_000*64); got != want {
		t.Errorf("Bytes = %d, want %d", got, want)
	}
	if got, want := string(s.Keys[0]), "https://www.bababa.org/baba/motofo/index.html?id=000004284968992"; got != want {
		t.Errorf("first key = %q, want %q", got, want)
	}
	for _, k := range slices.Concat(s.Keys, s.Absent) {
		if len(k) != 64 || !bytes.HasPrefix(k, []byte("https://www.")) {
			t.Fatalf("%q is no URL of 64 bytes", k)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, contents := range map[string]string{"b.go": "b", "a/x.go": "x", "a.go": ""} {
		file := filepath.Join(dir, name)
		errtest.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		errtest.NoError(t, os.WriteFile(file, []byte(contents), 0o666))
	}
	s, err := tree(dir)
	errtest.NoError(t, err)
	checkSet(t, s)
	var got []string
	for i, k := range s.Keys {
		got = append(got, string(k)+"="+string(s.Values[i]))
	}
	if diff := cmp.Diff([]string{"a.go=", "a/x.go=x", "b.go=b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDatasets(t *testing.T) {
	t.Parallel()
	if _, err := Dataset("no such name"); err == nil {
		t.Error("no error for an unknown dataset")
	}
	for name := range datasets {
		pairs, err := Dataset(name)
		errtest.NoError(t, err)
		for i := 1; i < len(pairs); i++ {
			if bytes.Compare(pairs[i-1].Key, pairs[i].Key) >= 0 {
				t.Fatalf("%s: pair %d, %q, is not > the one before", name, i, pairs[i].Key)
			}
		}
		again, _ := Dataset(name)
		if Digest(pairs) != Digest(again) {
			t.Errorf("%s: not the same twice", name)
		}
	}
}
