package memory

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// GOMEMLIMIT is a limit. Memory on top of --memory raises the runtime's limit, but not above GOMEMLIMIT.
func TestGOMEMLIMIT(t *testing.T) {
	before := goLimit
	defer func() { goLimit = before }()
	goLimit = 200 << 20
	const want = "it needs 210 MB of memory, but the limit is 210 MB (GOMEMLIMIT): do something"
	if err := Check("it", 200<<20+1, "do something"); err == nil || err.Error() != want {
		t.Errorf("Check = %v, want %s", err, want)
	}
	if err := Limit(150 << 20).Check(); err == nil || !strings.HasSuffix(err.Error(), ": use --memory 136MiB, or raise the limit") {
		t.Errorf("--memory 150MiB: %v", err)
	}
	if l, err := Usual(); l != 136<<20 || err != nil {
		t.Errorf("Usual = %d, %v", l, err)
	}
	defer Limit(64 << 20).Apply()()
	for _, tt := range []struct{ take, want int64 }{{50 << 20, 150 << 20}, {150 << 20, 200 << 20}} {
		release, err := Take("it", uint64(tt.take), "do something")
		errtest.NoError(t, err)
		if got := debug.SetMemoryLimit(-1); got != tt.want {
			t.Errorf("%d on top of --memory: the limit is %d, want %d", tt.take, got, tt.want)
		}
		release()
	}
	if got := debug.SetMemoryLimit(-1); got != 100<<20 {
		t.Errorf("the limit is %d in the end", got)
	}
	goLimit = 90 << 20
	if _, err := Usual(); err == nil || !strings.HasSuffix(err.Error(), ": raise the limit") {
		t.Errorf("90 MiB for all: %v", err)
	}
}
