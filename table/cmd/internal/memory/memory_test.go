package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

// The --memory that an error suggests is enough, and 1 MiB less is not.
func TestErrorsSayWhatWouldDo(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{3 << 20, 33 << 20, 33<<20 + 1, 1 << 30, 1<<40 + 1} {
		for name, check := range map[string]func(l Limit, size int64) error{"pair": Limit.CheckPair, "file": Limit.CheckFile} {
			err := check(1<<20, size)
			if name == "pair" && size > maxPair {
				continue // no memory is enough for it
			}
			var needed int64
			_, after, _ := strings.Cut(fmt.Sprint(err), ": use --memory ")
			if _, scanErr := fmt.Sscanf(after, "%dMiB", &needed); scanErr != nil {
				t.Errorf("%s of %d bytes: %v", name, size, err)
			}
			if err := check(Limit(needed<<20), size); err != nil {
				t.Errorf("%s of %d bytes, with %d MiB: %v", name, size, needed, err)
			}
			if err := check(Limit((needed-1)<<20), size); err == nil {
				t.Errorf("%s of %d bytes: %d MiB, a MiB less, would do too", name, size, needed-1)
			}
		}
	}
}

func TestNoLimitIsEnough(t *testing.T) {
	t.Parallel()
	const want = "2000000000 bytes, but a pair has at most 1073741792"
	if err := Limit(math.MaxInt64).CheckPair(2e9); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := Limit(math.MaxInt64).LongLineError(); strings.Contains(err.Error(), "--memory") {
		t.Errorf("a line that no memory is enough for: %v", err)
	}
}

func TestHold(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	release := Limit(1 << 30).Apply()
	if got := debug.SetMemoryLimit(-1); got != 1<<30+gcHeadroom {
		t.Errorf("held to %d", got)
	}
	inner := Limit(1 << 40).Apply() // as if GOMEMLIMIT were lower
	if got := debug.SetMemoryLimit(-1); got != 1<<30+gcHeadroom {
		t.Errorf("held to %d, want the lower limit", got)
	}
	inner()
	release()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("%d in the end, want %d", got, before)
	}
}
