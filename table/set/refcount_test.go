package set

import "testing"

// What has ended gets no reference any more, however many try.
func TestEndedGetsNoReference(t *testing.T) {
	t.Parallel()
	var c refCount
	for range 3 {
		if !c.acquire() {
			t.Fatal("a new thing has ended")
		}
	}
	if acquired, alone := c.tryAcquire(); !acquired || !alone {
		t.Fatalf("tryAcquire = %t, %t without others", acquired, alone)
	}
	c.release()
	for left := 2; left >= 0; left-- {
		if ended := c.release(); ended != (left == 0) {
			t.Errorf("with %d references left: ended %t", left, ended)
		}
	}
	for range 3 {
		if c.acquire() {
			t.Error("the thing has a reference after its end")
		}
		if acquired, alone := c.tryAcquire(); acquired || !alone {
			t.Errorf("tryAcquire = %t, %t after the end", acquired, alone)
		}
	}
}
