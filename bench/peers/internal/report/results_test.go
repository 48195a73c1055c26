package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The file has what was measured, with a line for each list of figures, and draws the same again.
func TestSaveAndDraw(t *testing.T) {
	t.Parallel()
	r := sample(1)
	dir := drawn(t, r)
	got, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	if want := "\"values\": [500, 450, 600],\n"; !strings.Contains(read(t, dir, DataFile), want) {
		t.Errorf("%s has no line %q", DataFile, want)
	}
	page, chart := read(t, dir, File), read(t, dir, "membership.svg")
	again := drawn(t, got)
	if diff := cmp.Diff([]string{page, chart}, []string{read(t, again, File), read(t, again, "membership.svg")}); diff != "" {
		t.Errorf("drawn again (-first +second):\n%s", diff)
	}
}

// The page and the charts of the repository, and what README.md shows of them, are of its results.json.
func TestCommitted(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	dir := t.TempDir()
	readme := filepath.Join(t.TempDir(), "README.md")
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, DataFile), []byte(read(t, root, DataFile)), 0o666),
		os.WriteFile(readme, []byte(read(t, root, "..", "..", "README.md")), 0o666),
		Draw(dir), DrawReadme(readme, dir))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read(t, root, "..", "..", "README.md"), read(t, readme)); diff != "" {
		t.Errorf("README.md: run go run ./bench/peers -draw (-committed +drawn):\n%s", diff)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if diff := cmp.Diff(read(t, root, f.Name()), read(t, dir, f.Name())); diff != "" {
			t.Errorf("%s: run go run ./bench/peers -draw (-committed +drawn):\n%s", f.Name(), diff)
		}
	}
}

// Only what was measured is drawn: here the sets, and nothing of engines.
func TestDrawSome(t *testing.T) {
	t.Parallel()
	r := sample(1)
	r.Engines.Rows = nil
	r.Membership.Rows = r.Membership.Rows[:1]
	dir := drawn(t, r)
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(files) != 2 || filepath.Base(files[1]) != byKeysFile {
		t.Errorf("charts %q, %v; want both forms of %s", files, err, byKeysFile)
	}
}

// A file that cannot be drawn is refused, with what is wrong in it.
func TestDrawRefuses(t *testing.T) {
	t.Parallel()
	dir := drawn(t, sample(1))
	whole := read(t, dir, DataFile)
	for name, c := range map[string]struct{ old, new, want string }{
		"not JSON":             {whole, "W1", "invalid character"},
		"half":                 {whole[len(whole)/2:], "", "unexpected EOF"},
		"a field too many":     {`"rounds"`, `"round"`, "unknown field"},
		"nothing":              {whole, "{}", "no rows"},
		"two reports":          {whole, whole + whole, "something behind them"},
		"a unit":               {`"unit": "ns"`, `"unit": "s"`, `unit "s", want one of`},
		"a figure below 0":     {"[500, 450, 600]", "[-1]", "W1-snappy/get-absent-cold, goleveldb: -1 ns, want"},
		"a figure of 0":        {"[500, 450, 600]", "[0]", "goleveldb: 0 ns, want"},
		"a figure too large":   {"[500, 450, 600]", "[1e300]", "1e+300 ns"},
		"a column less":        {`"name": "goleveldb",`, `"name": "goleveldb"}, {`, "5 cells, want one for each of 6 columns"},
		"a size below 0":       {`"x": 10000,`, `"x": -1,`, "W3-10000/get-absent-warm is at -1"},
		"a place that is none": {`"x": 10000,`, "", "W3-10000/get-absent-warm is at 0, want > 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := t.TempDir()
			text := strings.Replace(whole, c.old, c.new, 1)
			if text == whole {
				t.Fatalf("no %q in the file", c.old)
			}
			if err := os.WriteFile(filepath.Join(bad, DataFile), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := Draw(bad); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(bad, File)); err == nil {
				t.Errorf("%s is there", File)
			}
		})
	}
}

func TestDrawWithoutData(t *testing.T) {
	t.Parallel()
	if err := Draw(t.TempDir()); err == nil || !strings.Contains(err.Error(), DataFile) {
		t.Errorf("error %v, want one that names %s", err, DataFile)
	}
}
