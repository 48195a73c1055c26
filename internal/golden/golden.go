// Package golden compares the output of a test with a file in testdata. The flag -update rewrites the file.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "rewrite golden files with the output of the tests")

// Text fails t with a diff if got differs from testdata/name of the package under test.
func Text(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *Update {
		errtest.NoError(t, os.MkdirAll("testdata", 0o777))
		errtest.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
