package alloc_test

import (
	"errors"
	"math"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// If Check succeeds, the memory can be allocated. If it fails, there is less memory than that.
func TestCheckKnowsTheAddressSpace(t *testing.T) {
	if !filtertest.InLittleMemory(t) {
		return
	}
	const most = 3 << 30 // address space, some of it used by the program
	for bytes := uint64(1 << 20); bytes < math.MaxUint64/2; bytes *= 2 {
		err := alloc.Check(bytes)
		var refused *alloc.Error
		switch {
		case err == nil && bytes >= most:
			t.Errorf("%d bytes are granted", bytes)
		case err == nil:
			_ = make([]byte, bytes) // ends the process if it fails
			debug.FreeOSMemory()
		case bytes <= 1<<28 || !errors.Is(err, syscall.ENOMEM) || !errors.As(err, &refused) || refused.Needed != bytes:
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

// More than the limit of Go's runtime is an error. The limit applies to the process, so the test is not parallel.
func TestCheckKnowsTheMemoryLimit(t *testing.T) {
	const limit = 1 << 40
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	want := &alloc.Error{Needed: limit + 1, Limit: limit}
	var got *alloc.Error
	if err := alloc.Check(limit + 1); !errors.As(err, &got) {
		t.Fatalf("%v, want %v", err, want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, want := got.Error(), "needs 1099511627777 bytes of memory, the memory limit of Go's runtime is 1099511627776 bytes"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := alloc.Check(1000); err != nil {
		t.Error(err)
	}
}
