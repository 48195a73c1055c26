package blocked_test

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// A failure is an error and the text that it must contain.
type failure struct {
	name string
	err  error
	want string
}

// checkFailures checks the texts of errors.
func checkFailures(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures {
		if f.err == nil || !strings.HasPrefix(f.err.Error(), "blocked: ") || !strings.Contains(f.err.Error(), f.want) {
			t.Errorf("%s: error %v, want one with %q", f.name, f.err, f.want)
		}
	}
}

func errorOf(_ any, err error) error { return err }
