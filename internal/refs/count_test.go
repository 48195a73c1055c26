package refs

import "testing"

// A thing that has ended gets no more references, however many goroutines try.
func TestEndedGetsNoReference(t *testing.T) {
	t.Parallel()
	var c Count
	for range 3 {
		if !c.Acquire() {
			t.Fatal("a new thing has ended")
		}
	}
	for left := 2; left >= 0; left-- {
		if ended := c.Release(); ended != (left == 0) {
			t.Errorf("with %d references left: ended %t", left, ended)
		}
	}
	for range 3 {
		if c.Acquire() {
			t.Error("the thing has a reference after its end")
		}
	}
}
